/*
SPDX-License-Identifier: Apache-2.0
*/

// Command crd narrows the schema of a generated CRD to what Go can decode, and lets its descriptions flow. The types of Kubernetes that
// the API embeds bring integers without bounds, quantities with endless exponents and times that Go does not
// read; the API server would store what they allow, and a single object that does not decode keeps every
// client from listing any.
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

// quantity is what every quantity has to look like: no sign, no more than three decimals, nothing below
// milli, which the API server would round, so that the object never stood as it was wanted.
const quantity = `^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$`

// moment is what every time has to look like: that of the API server is wider than that of Go, which wants capital
// letters and a time zone that there can be.
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

// narrow goes through everything below a node.
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

// brokenLine is a line's end in the middle of a paragraph: neither an empty line nor a list follows.
var brokenLine = regexp.MustCompile(`([^\n])\n([^\s*-])`)

// flowing is a description without the line breaks of the source: kubectl explain breaks lines itself, and would keep
// these, too.
func flowing(text string) string { return brokenLine.ReplaceAllString(text, "$1 $2") }

// bound adds what a schema lacks; bounds that it has stay.
func bound(schema map[string]any) {
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
