/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"regexp"
)

var (
	namesImage = regexp.MustCompile(`(?m)^ *(?:- )?image: (.*)$`)
	isImage    = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$`)
)

// imageOf returns the operator image, and validates it because users set it.
func imageOf(manifests string) (string, error) {
	named := namesImage.FindStringSubmatch(manifests)
	if named == nil {
		return "", errors.New("the manifests name no image")
	}
	if !isImage.MatchString(named[1]) {
		return "", fmt.Errorf("%q is not an image: use one like IMG=registry.example.com/databasecluster-operator:v1", named[1])
	}
	return named[1], nil
}
