/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Values of all placeholders, for checks.
var (
	ofAProgram = values{inKubeconfig: "file", inNamespace: "a", inHealth: "a:1", inMetrics: "a:2", inProfiles: "a:3"}
	ofACluster = values{inName: "a", inNamespace: "a", inReplicas: "3", inRevision: "1"}
)

// check reports what is wrong before anything starts.
func (d description) check() error {
	return cmp.Or(d.checkFields(), d.checkProgram(), d.checkTexts(), d.checkDrift())
}

// checkFields reports missing fields, and a name that cannot be part of the names of namespaces and files.
func (d description) checkFields() error {
	for _, f := range [][2]string{{"name", d.Name}, {"binary", d.Binary}, {"resource", d.Resource}, {"ready", d.Ready}} {
		if f[1] == "" {
			return fmt.Errorf("%s is missing: see test/bench/operator.yaml", f[0])
		}
	}
	if problems := validation.IsDNS1123Label(d.Name); len(problems) > 0 {
		return fmt.Errorf("name is %q: %s", d.Name, strings.Join(problems, "; "))
	}
	if (d.Rollout != "" || d.Scale != "") && d.Label == "" {
		return errors.New("label is missing: rollout and scale need the label of the pods")
	}
	return nil
}

func (d description) checkProgram() error {
	for _, manifest := range d.Manifests {
		if _, err := os.Stat(manifest); err != nil {
			return fmt.Errorf("manifests: %w", err)
		}
	}
	if namespace, name, _ := strings.Cut(d.Account, "/"); d.Account != "" && (namespace == "" || name == "") {
		return fmt.Errorf("account is %q: want NAMESPACE/NAME", d.Account)
	}
	var failed error
	for _, text := range slices.Concat([]string{d.Health, d.Metrics, d.Profiles}, d.Arguments, slices.Collect(maps.Values(d.Environment))) {
		_, err := ofAProgram.fill(text)
		failed = errors.Join(failed, err)
	}
	return failed
}

// checkTexts parses the template and the patches.
func (d description) checkTexts() error {
	object, err := ofACluster.object(d.Resource)
	if err != nil {
		return fmt.Errorf("resource: %w", err)
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if text, _ := object[field].(string); text == "" {
			return fmt.Errorf("resource has no %s", field)
		}
	}
	for _, f := range [][2]string{{"rollout", d.Rollout}, {"scale", d.Scale}, {"drift.patch", d.Drift.Patch}} {
		if _, err := ofACluster.object(f[1]); err != nil {
			return fmt.Errorf("%s: %w", f[0], err)
		}
	}
	return nil
}

// checkDrift reports a drift that is only partly described.
func (d description) checkDrift() error {
	if d.Drift == (drift{}) {
		return nil
	}
	for _, f := range [][2]string{
		{"apiVersion", d.Drift.APIVersion}, {"kind", d.Drift.Kind}, {"name", d.Drift.Name}, {"patch", d.Drift.Patch},
	} {
		if f[1] == "" {
			return fmt.Errorf("drift.%s is missing: see test/bench/operator.yaml", f[0])
		}
	}
	_, err := ofACluster.fill(d.Drift.Name)
	return err
}
