/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestEveryLinkOfTheAPIDocsHasATarget follows each link in docs/api.md: to a heading, to a page beside it, or to a
// type of Kubernetes in the API.
func TestEveryLinkOfTheAPIDocsHasATarget(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		known["#"+strings.ToLower(heading[1])] = true
	}
	for _, k := range kinds(t) {
		foreign(k.of, func(path, name string) { known["https://pkg.go.dev/"+path+"#"+name] = true })
		if !known["#"+strings.ToLower(k.of.Name())] {
			t.Errorf("%s is missing", k.of.Name())
		}
	}
	text = regexp.MustCompile("`[^`]*`").ReplaceAll(text, nil) // patterns look like links
	links := regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 100 {
		t.Errorf("there are only %d links", len(links))
	}
	for _, link := range links {
		_, err := os.Stat("../../docs/" + link[1])
		if !known[link[1]] && err != nil {
			t.Errorf("%s leads nowhere", link[1])
		}
	}
}

// foreign reports the types of Kubernetes in fields of this API.
func foreign(of reflect.Type, tell func(path, name string)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	ours := of.PkgPath() == reflect.TypeFor[DatabaseCluster]().PkgPath()
	switch {
	case !ours && of.PkgPath() != "":
		tell(of.PkgPath(), of.Name())
	case ours && of.Kind() == reflect.Struct:
		for field := range of.Fields() {
			foreign(field.Type, tell)
		}
	}
}
