/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	chart  = "charts/databasecluster-operator"
	prefix = "databasecluster-operator-"
	// keep makes Helm keep an object when the release no longer has it, or is uninstalled.
	keep = "    helm.sh/resource-policy: keep\n"
)

// writeChart writes the chart's files from config into its folder files. The templates read them.
func writeChart(version string, documents []document) error {
	access, err := os.ReadFile("config/secret-access/policy.yaml")
	if err != nil {
		return err
	}
	optional, err := split(string(access))
	if err != nil {
		return err
	}
	files := fromConfig(slices.Concat(documents, optional))
	alerts, alertsErr := os.ReadFile("config/prometheus/alerts.yaml")
	monitor, monitorErr := os.ReadFile("config/prometheus/monitor.yaml")
	dashboard, dashboardErr := os.ReadFile("config/grafana/databasecluster.json")
	if err := errors.Join(alertsErr, monitorErr, dashboardErr); err != nil {
		return err
	}
	files["alerts.yaml"], files["monitor.yaml"] = section(string(alerts), "spec"), section(string(monitor), "spec")
	files["dashboard.json"] = string(dashboard)
	if err := os.RemoveAll(filepath.Join(chart, "files")); err != nil {
		return err
	}
	for name, text := range files {
		if err := write(filepath.Join(chart, "files", name), text); err != nil {
			return err
		}
	}
	err = rewrite(filepath.Join(chart, "Chart.yaml"), func(text string) (string, error) {
		return versionLine.ReplaceAllString(text, "$1: "+version), nil
	})
	if err != nil {
		return err
	}
	return describedValues()
}

// fromConfig returns the CRDs, the admission policies, and the rules of each role. Of the policies that an uninstall
// deletes, it returns only the spec, because their names depend on the release.
func fromConfig(documents []document) map[string]string {
	files := map[string]string{}
	var protection []document
	for _, d := range documents {
		switch {
		case d.definition():
			plural, _, _ := strings.Cut(d.name, ".")
			files["crds/"+plural+".yaml"] = kept(d).text
		case d.protection():
			protection = append(protection, kept(d))
		case d.kind == admissionPolicy:
			files["policies/"+strings.TrimPrefix(d.name, prefix)+".yaml"] = section(d.text, "spec")
		case d.kind == "Role" || d.kind == "ClusterRole":
			files["rules/"+strings.TrimPrefix(d.name, prefix)+".yaml"] = section(d.text, "rules")
		}
	}
	files["admission.yaml"] = join(protection)
	return files
}

// kept returns a document with the annotation that makes Helm keep it.
func kept(d document) document {
	if head, rest, found := strings.Cut(d.text, "\nmetadata:\n  annotations:\n"); found {
		d.text = head + "\nmetadata:\n  annotations:\n" + keep + rest
		return d
	}
	d.text = strings.Replace(d.text, "\nmetadata:\n", "\nmetadata:\n  annotations:\n"+keep, 1)
	return d
}

// section returns a top-level field of a document with all nested fields.
func section(text, field string) string {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, field+":") {
			inside = true
		} else if line != "" && line[0] != ' ' && line[0] != '-' && line[0] != '#' {
			inside = false
		}
		if inside {
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// versionLine matches a line of Chart.yaml with the operator's version.
var versionLine = regexp.MustCompile(`(?m)^(version|appVersion): .*$`)

func rewrite(file string, change func(string) (string, error)) error {
	before, err := os.ReadFile(file) //nolint:gosec // one of ours
	if err != nil {
		return err
	}
	after, err := change(string(before))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return write(file, after)
}
