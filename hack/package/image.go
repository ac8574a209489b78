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

// imageOf is the operator's image. It comes from whoever runs make, and nothing has looked at it yet.
func imageOf(manifests string) (string, error) {
	named := namesImage.FindStringSubmatch(manifests)
	if named == nil {
		return "", errors.New("the manifests name no image")
	}
	if !isImage.MatchString(named[1]) {
		return "", fmt.Errorf("%q is no image: give one like IMG=registry.example.com/databasecluster-operator:v1", named[1])
	}
	return named[1], nil
}
