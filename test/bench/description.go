/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// description describes an operator: how to start it, and how to use it. Every operator but the floor has one in a
// file: operator.yaml explains the fields.
type description struct {
	Name    string `json:"name"`
	Version string `json:"version"` // for the tables

	Binary      string            `json:"binary"`
	Arguments   []string          `json:"arguments"`
	Environment map[string]string `json:"environment"`
	Manifests   []string          `json:"manifests"`
	Account     string            `json:"account"`

	Resource string `json:"resource"`
	Ready    string `json:"ready"`
	Label    string `json:"label"`
	Rollout  string `json:"rollout"`
	Scale    string `json:"scale"`
	Drift    drift  `json:"drift"`

	Health   string `json:"health"`
	Metrics  string `json:"metrics"`
	Profiles string `json:"profiles"`
}

// drift is a change of an object that the operator owns.
type drift struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Patch      string `json:"patch"`
}

// Placeholders in descriptions.
const (
	inKubeconfig = "KUBECONFIG" // of the operator
	inNamespace  = "NAMESPACE"  // of its clusters
	inHealth     = "HEALTH"     // three free addresses
	inMetrics    = "METRICS"
	inProfiles   = "PROFILES"
	inName       = "NAME"     // of a cluster
	inReplicas   = "REPLICAS" // the number of its members
	inRevision   = "REVISION" // another value for each rollout
)

// describe reads the files of all operators, and looks for their programs.
func describe(paths []string) ([]description, error) {
	var all []description
	for _, path := range paths {
		d, err := readDescription(path)
		if err != nil {
			return nil, err
		}
		if _, err := exec.LookPath(d.Binary); err != nil {
			return nil, fmt.Errorf("the description of an operator in %s: binary is %s, which cannot be executed: build it first", path, d.Binary)
		}
		taken := func(other description) bool { return other.Name == d.Name }
		if d.Name == nameOfFloor || slices.ContainsFunc(all, taken) {
			return nil, fmt.Errorf("the description of an operator in %s: name is %q, which is taken: choose another one", path, d.Name)
		}
		all = append(all, d)
	}
	return all, nil
}

// readDescription reads the file of an operator. Paths in it are relative to its directory.
func readDescription(path string) (description, error) {
	var d description
	text, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if err != nil {
		return d, fmt.Errorf("read the description of an operator: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		return d, fmt.Errorf("read the description of an operator in %s: %w. test/bench/operator.yaml has the fields", path, err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return d, fmt.Errorf("find the directory of %s: %w", path, err)
	}
	d.Binary = within(dir, d.Binary)
	for i, manifest := range d.Manifests {
		d.Manifests[i] = within(dir, manifest)
	}
	if err := d.check(); err != nil {
		return d, fmt.Errorf("the description of an operator in %s: %w", path, err)
	}
	return d, nil
}

func within(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// values are the values of placeholders.
type values map[string]string

var placeholder = regexp.MustCompile(`\$\{[A-Za-z_]*\}`)

// fill replaces ${NAME} by its value.
func (v values) fill(text string) (string, error) {
	var failed error
	filled := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		value, known := v[strings.Trim(found, "${}")]
		if !known {
			failed = fmt.Errorf("%s in %q is not known", found, text)
		}
		return value
	})
	return filled, failed
}

// object parses a text with placeholders as YAML.
func (v values) object(text string) (map[string]any, error) {
	filled, err := v.fill(text)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(filled), &object); err != nil {
		return nil, fmt.Errorf("parse %q: %w", filled, err)
	}
	return object, nil
}
