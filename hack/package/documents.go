/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// document is one object as it was written. It stays text: numbers and the order of fields survive.
type document struct{ kind, name, text string }

var (
	kindLine = regexp.MustCompile(`(?m)^kind: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^  name: (\S+)$`)
)

// split takes manifests apart. The name is the first after "metadata:", because others have one too, such as the
// roleRef of a binding.
func split(text string) ([]document, error) {
	var all []document
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		kind := kindLine.FindStringSubmatch(part)
		_, metadata, _ := strings.Cut(part, "\nmetadata:\n")
		name := nameLine.FindStringSubmatch(metadata)
		if kind == nil || name == nil {
			return nil, fmt.Errorf("a manifest lacks kind or name: %.200s", part)
		}
		all = append(all, document{kind[1], name[1], strings.Trim(part, "\n") + "\n"})
	}
	if len(all) == 0 {
		return nil, errors.New("there are no manifests on the standard input")
	}
	return all, nil
}

// definition tells of what every cluster goes with. An uninstalled operator leaves it.
func (d document) definition() bool { return d.kind == "CustomResourceDefinition" }

// protection tells of what keeps definitions, clusters and volumes from being deleted. It stays as well.
func (d document) protection() bool {
	return d.kind == "ValidatingAdmissionPolicy" || d.kind == "ValidatingAdmissionPolicyBinding"
}

// join puts documents into one file.
func join(documents []document) string {
	texts := make([]string, len(documents))
	for i, d := range documents {
		texts[i] = d.text
	}
	return strings.Join(texts, "---\n")
}
