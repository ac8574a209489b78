/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Location is the location of one or more backups.
type Location struct {
	Scheme string // s3 or file
	Bucket string // s3 only
	Path   string // within the bucket or the volume, without slashes at its ends
}

// ParseLocation parses the URL of a backup: s3://bucket/path or file:///path.
func ParseLocation(text string) (Location, error) {
	if text == "" {
		return Location{}, errors.New("the location is required")
	}
	parsed, err := parseURL(text)
	if err != nil {
		return Location{}, fmt.Errorf("the location is not a valid URL: %w", err)
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return Location{}, fmt.Errorf("the location %q must consist only of a scheme, a bucket and a path", parsed.Redacted())
	}
	place := Location{Scheme: parsed.Scheme, Bucket: parsed.Host, Path: strings.Trim(parsed.Path, "/")}
	// A bucket has a name, a volume does not.
	if named, ok := map[string]bool{"s3": true, "file": false}[place.Scheme]; !ok || named != (place.Bucket != "") {
		return Location{}, fmt.Errorf("the location %q must look like s3://bucket/path or file:///path", text)
	}
	if place.Path != "" && (path.Clean(place.Path) != place.Path || strings.HasPrefix(place.Path, "..")) {
		return Location{}, fmt.Errorf("the path of the location %q must not contain empty parts, '.' or '..'", text)
	}
	return place, nil
}

// URL returns the URL of an object below the location.
func (l Location) URL(name string) string {
	return l.Scheme + "://" + path.Join(l.Bucket+"/", l.Path, name)
}

// FolderOf is the URL of the folder with the backups and the archive of a cluster, with a slash at its end.
func FolderOf(destination, namespace, cluster string) string {
	return strings.TrimSuffix(destination, "/") + "/" + namespace + "/" + cluster + "/"
}

// checkEndpoint rejects an endpoint that is not the address of a service. An empty endpoint means Amazon S3.
func checkEndpoint(text string) error {
	if text == "" {
		return nil
	}
	endpoint, err := parseURL(text)
	if err != nil {
		return fmt.Errorf("--endpoint is not a valid URL: %w", err)
	}
	if endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil {
		return fmt.Errorf("--endpoint %q must look like https://host:port", endpoint.Redacted())
	}
	return nil
}

// parseURL omits the URL from its errors, because the URL might contain a password.
func parseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if failure, ok := errors.AsType[*url.Error](err); ok {
		return nil, failure.Err
	}
	return parsed, err
}
