/*
SPDX-License-Identifier: Apache-2.0
*/

package redact

import (
	"regexp"
	"strings"
)

// labels are the labels by which metrics name a cluster.
var labels = regexp.MustCompile(`[{,](namespace|name)="((?:[^"\\]|\\.)*)"`)

// Metrics removes the metrics of other clusters, whose names can be confidential. Metrics of the operator itself stay.
func Metrics(text, namespace, name string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "database") && differs(line, namespace, name) {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// differs reports whether a line has the labels of another cluster.
func differs(line, namespace, name string) bool {
	wanted := map[string]string{"namespace": namespace, "name": name}
	for _, found := range labels.FindAllStringSubmatch(line, -1) {
		if found[2] != wanted[found[1]] {
			return true
		}
	}
	return false
}
