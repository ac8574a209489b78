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

// change is one that breaks somebody.
type change struct {
	File     string `json:"file"`
	Property string `json:"property,omitempty"`
	Check    string `json:"check"`
	what     string
}

// name is what an acceptance knows a change by.
func (c change) name() string { return fmt.Sprintf("%s %s: %s", c.File, c.Property, c.Check) }

// acceptance is a change that is made all the same.
type acceptance struct {
	change
	Reason string `json:"reason"`
}

// report is what crdify prints.
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

// read takes the changes from what crdify prints about a file.
func read(file string, output []byte) ([]change, error) {
	var said report
	if err := json.Unmarshal(output, &said); err != nil {
		return nil, fmt.Errorf("read what crdify says about %s: %w", file, err)
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

// verdict is an error that names each change that is not accepted, and each acceptance that no change needs.
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
		wrong = append(wrong, "Who has objects of the previous release may be hurt by these changes, and Operator Lifecycle Manager v1 refuses them: "+
			"take them back, or name each in "+folder+"accepted.yaml with its reason.")
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
