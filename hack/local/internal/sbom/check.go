package sbom

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// bill is the parsed part of a bill of materials.
type bill struct {
	Components []component `json:"components"`
}

type component struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Evidence struct {
		Licenses []any `json:"licenses"`
	} `json:"evidence"`
}

// standardLibrary is the name of the Go standard library in a bill.
const standardLibrary = "std"

// check compares the bill with the output of "go version -m": it must have exactly the same modules, each with a
// license.
func (b bill) check(built *debug.BuildInfo) error {
	inBinary := modulesOf(built)
	inBill := map[string]bool{}
	var wrong []string
	for _, each := range b.Components {
		module := each.Name + "@" + each.Version
		inBill[module] = true
		if !inBinary[module] {
			wrong = append(wrong, "it lists "+module+", which is not in the binary")
		}
		if each.Name != standardLibrary && len(each.Evidence.Licenses) == 0 {
			wrong = append(wrong, "it has no license of "+module+": has its source left the module cache (go mod download)?")
		}
	}
	for _, module := range slices.Sorted(maps.Keys(inBinary)) {
		if !inBill[module] {
			wrong = append(wrong, "it lacks "+module)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// modulesOf returns the modules as NAME@VERSION, with replacements applied.
func modulesOf(built *debug.BuildInfo) map[string]bool {
	modules := map[string]bool{standardLibrary + "@" + built.GoVersion: true}
	for _, module := range built.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		modules[module.Path+"@"+module.Version] = true
	}
	return modules
}
