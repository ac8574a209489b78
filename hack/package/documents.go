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

// document is the text of one object. Text preserves numbers and the order of fields.
type document struct{ kind, name, text string }

// admissionPolicy is the kind of policies, and the beginning of that of their bindings.
const admissionPolicy = "ValidatingAdmissionPolicy"

var (
	kindLine = regexp.MustCompile(`(?m)^kind: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^  name: (\S+)$`)
)

// split splits manifests. The name of an object is the first name after "metadata:", because other parts, such as
// roleRef, have names, too.
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

// definition reports whether all clusters depend on the object. An uninstall keeps it.
func (d document) definition() bool { return d.kind == "CustomResourceDefinition" }

// protection reports whether the object protects CRDs, clusters and volumes from deletion, or restricts members. An
// uninstall keeps it, because databases continue to run.
func (d document) protection() bool {
	return strings.HasPrefix(d.kind, admissionPolicy) &&
		(strings.HasPrefix(d.name, prefix+"protected-") || strings.HasPrefix(d.name, prefix+"member-"))
}

// restriction reports whether the object restricts the requests of the operator to Secrets.
func (d document) restriction() bool {
	return strings.HasPrefix(d.kind, admissionPolicy) && !d.protection()
}

// join joins documents in one file.
func join(documents []document) string {
	texts := make([]string, len(documents))
	for i, d := range documents {
		texts[i] = d.text
	}
	return strings.Join(texts, "---\n")
}
