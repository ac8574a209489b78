/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// change is a breaking change.
type change struct {
	File     string `json:"file"`
	Property string `json:"property,omitempty"`
	Check    string `json:"check"`
	what     string
}

// name identifies the change in an acceptance.
func (c change) name() string { return fmt.Sprintf("%s %s: %s", c.File, c.Property, c.Check) }

// acceptance is an accepted breaking change.
type acceptance struct {
	change
	Reason string `json:"reason"`
}

// report is the output of crdify.
type report struct {
	CRDValidation           []result
	SameVersionValidation   []versionReport
	ServedVersionValidation []versionReport
}

type versionReport struct {
	Version             string
	PropertyComparisons []struct {
		Property          string
		ComparisonResults []result
	}
}

type result struct {
	Name   string
	Errors []string
}

// read parses the changes in the output of crdify for a file.
func read(file string, output []byte) ([]change, error) {
	var said report
	if err := json.Unmarshal(output, &said); err != nil {
		return nil, fmt.Errorf("read the output of crdify for %s: %w", file, err)
	}
	var all []change
	add := func(property string, results []result) {
		for _, r := range results {
			if len(r.Errors) > 0 {
				all = append(all, change{file, property, r.Name, strings.Join(r.Errors, "; ")})
			}
		}
	}
	add("", said.CRDValidation)
	for _, version := range append(said.SameVersionValidation, said.ServedVersionValidation...) {
		for _, found := range version.PropertyComparisons {
			add(found.Property, found.ComparisonResults)
		}
	}
	return all, nil
}

// verdict returns an error that lists each change without an acceptance, and each unused acceptance.
func verdict(changes []change, accepted []acceptance) error {
	var wrong []string
	needed := map[int]bool{}
	for _, c := range changes {
		at := slices.IndexFunc(accepted, func(a acceptance) bool { return a.name() == c.name() })
		needed[at] = true
		if at < 0 {
			wrong = append(wrong, c.name()+": "+c.what)
		}
	}
	if len(wrong) > 0 {
		wrong = append(wrong, "These changes may break objects of the previous release, and Operator Lifecycle Manager v1 rejects them: "+
			"revert them, or add each to "+folder+"accepted.yaml with its reason.")
	}
	for i, a := range accepted {
		if !needed[i] {
			wrong = append(wrong, fmt.Sprintf("%saccepted.yaml: there is no change %s: remove the entry", folder, a.name()))
		}
		if len(a.Reason) < 20 {
			wrong = append(wrong, fmt.Sprintf("%saccepted.yaml: give the reason for %s, at least 20 letters", folder, a.name()))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "\n"))
}
