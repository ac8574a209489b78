/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// location is where a backup is, or several are.
type location struct {
	scheme string // s3 or file
	bucket string // of s3
	path   string // within the bucket or the volume, without slashes at its ends
}

func parseLocation(text string) (location, error) {
	if text == "" {
		return location{}, errors.New("the location must be given")
	}
	parsed, err := parseURL(text)
	if err != nil {
		return location{}, fmt.Errorf("the location is not a URL: %w", err)
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return location{}, fmt.Errorf("the location %q must be a scheme, a bucket and a path, and nothing else", parsed.Redacted())
	}
	place := location{scheme: parsed.Scheme, bucket: parsed.Host, path: strings.Trim(parsed.Path, "/")}
	// A bucket has a name, a volume has none.
	if named, ok := map[string]bool{"s3": true, "file": false}[place.scheme]; !ok || named != (place.bucket != "") {
		return location{}, fmt.Errorf("the location %q must look like s3://bucket/path or file:///path", text)
	}
	if place.path != "" && (path.Clean(place.path) != place.path || strings.HasPrefix(place.path, "..")) {
		return location{}, fmt.Errorf("the path of the location %q must not contain empty parts, '.' or '..'", text)
	}
	return place, nil
}

// url of something below the location.
func (l location) url(name string) string {
	return l.scheme + "://" + path.Join(l.bucket+"/", l.path, name)
}

// checkEndpoint refuses what is not the address of a service.
func checkEndpoint(text string) error {
	endpoint, err := parseURL(text)
	if err != nil {
		return fmt.Errorf("--endpoint is not a URL: %w", err)
	}
	if endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil {
		return fmt.Errorf("--endpoint %q must look like https://host:port", endpoint.Redacted())
	}
	return nil
}

// parseURL leaves the text out of its errors: there might be a password in it.
func parseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if failure, ok := errors.AsType[*url.Error](err); ok {
		return nil, failure.Err
	}
	return parsed, err
}
