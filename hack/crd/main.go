/*
SPDX-License-Identifier: Apache-2.0
*/

// Command crd narrows the schema of a generated CRD to values that Go can decode, and removes line breaks from its
// descriptions. The embedded Kubernetes types have integers without bounds, quantities with any exponent, and times
// that Go cannot parse. The API server would store such values, and a single undecodable object prevents every client
// from listing objects.
//
//	go run ./hack/crd FILE...
package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// quantity is the pattern of every quantity: no sign, at most three decimals, and no unit below milli. The API server
// would round smaller values, so the stored object would differ from the applied one.
const quantity = `^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$`

// moment is the pattern of every time. The API server accepts more formats than Go, which requires capital letters and
// a valid time zone.
const moment = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

func main() {
	for _, file := range os.Args[1:] {
		if err := narrowFile(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func narrowFile(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	narrow(crd)
	text, err = yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, append([]byte("---\n"), text...), 0o644) //nolint:gosec // it is no secret
}

// narrow visits all nodes below a node.
func narrow(node any) {
	switch n := node.(type) {
	case []any:
		for _, element := range n {
			narrow(element)
		}
	case map[string]any:
		for _, value := range n {
			narrow(value)
		}
		bound(n)
		if text, isText := n["description"].(string); isText {
			n["description"] = flowing(text)
		}
	}
}

// brokenLine matches a line break in the middle of a paragraph: no empty line and no list follows.
var brokenLine = regexp.MustCompile(`([^\n])\n([^\s*-])`)

// flowing removes the line breaks of the source from a description: kubectl explain wraps lines itself and would keep
// these breaks.
func flowing(text string) string { return brokenLine.ReplaceAllString(text, "$1 $2") }

// bound adds missing bounds to a schema. It keeps existing bounds.
func bound(schema map[string]any) {
	if ranged, isText := schema["cidr"].(map[string]any); isText {
		setDefault(ranged, "maxLength", 49) // an IPv4 address as IPv6, with a length; it bounds the cost of a CEL rule, too
	}
	intOrString := schema["x-kubernetes-int-or-string"] == true
	pattern, _ := schema["pattern"].(string)
	switch {
	case schema["format"] == "date-time":
		schema["pattern"] = moment
	case intOrString && strings.Contains(pattern, "numkMGTPE"):
		schema["pattern"] = quantity
		setDefault(schema, "maxLength", 32)               // which also bounds the cost of a CEL rule about it
		setDefault(schema, "maximum", math.MaxInt64/1000) // in milli it still is an int64
		setDefault(schema, "minimum", 0)
	case intOrString, schema["type"] == "integer" && schema["format"] == "int32":
		setDefault(schema, "maximum", math.MaxInt32)
		setDefault(schema, "minimum", math.MinInt32)
	}
}

func setDefault(schema map[string]any, key string, value int) {
	if _, found := schema[key]; !found {
		schema[key] = value
	}
}
