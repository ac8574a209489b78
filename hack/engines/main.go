/*
SPDX-License-Identifier: Apache-2.0
*/

// Command engines assembles the built-in DatabaseEngines. In the folder of an engine, engine.yaml lists the names of the scripts, and
// scripts/ has one file for each. The YAML that users install contains their texts.
//
//	go run ./hack/engines config/engines/*/engine.yaml
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	for _, file := range os.Args[1:] {
		folder := filepath.Dir(file)
		text, err := assemble(folder)
		if err == nil {
			err = os.WriteFile(folder+".yaml", []byte(text), 0o644) //nolint:gosec // it is no secret
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// list matches the list of the scripts in engine.yaml.
var list = regexp.MustCompile(`(?m)^  scripts:\n((?:    - \S+\n)+)`)

// assemble returns the DatabaseEngine in a folder, with its scripts in the order of the list.
func assemble(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "engine.yaml")) //nolint:gosec // the caller names it
	if err != nil {
		return "", err
	}
	found := list.FindStringSubmatchIndex(string(text))
	if found == nil {
		return "", fmt.Errorf("%s/engine.yaml has no spec.scripts: list the names of the files in scripts/, as \"    - NAME\"", folder)
	}
	names := strings.Fields(strings.ReplaceAll(string(text[found[2]:found[3]]), "    - ", ""))
	scripts, err := read(filepath.Join(folder, "scripts"), names)
	if err != nil {
		return "", err
	}
	blocks := make([]string, 0, len(names))
	for _, name := range names {
		blocks = append(blocks, block(name, scripts[name]))
	}
	assembled := string(text[:found[2]]) + strings.Join(blocks, "\n") + string(text[found[3]:])
	return assembled, check(assembled, scripts)
}

// read returns the files of a folder, which has to have exactly these.
func read(folder string, names []string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var problems []error
	all := map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() { // as Python's __pycache__
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // the caller names it
		all[name], problems = string(text), append(problems, err)
		if !slices.Contains(names, name) {
			problems = append(problems,
				fmt.Errorf("%s/%s is not in spec.scripts of engine.yaml: add it to the list, or remove the file", folder, name))
		}
	}
	for _, name := range names {
		if _, found := all[name]; !found {
			problems = append(problems, fmt.Errorf("%s/%s does not exist, but spec.scripts of engine.yaml lists it", folder, name))
		}
	}
	return all, errors.Join(problems...)
}

// block is a script as a block in YAML.
func block(name, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = "      " + line
		}
	}
	return "    " + name + ": |\n" + strings.Join(lines, "")
}

// check compares the scripts that a YAML parser finds with the files. A file without a line end, or with a first line that begins with a
// space, would be another script.
func check(assembled string, files map[string]string) error {
	var object struct {
		Spec struct {
			Scripts map[string]string `json:"scripts"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(assembled), &object); err != nil {
		return err
	}
	for name, text := range files {
		if object.Spec.Scripts[name] != text || !strings.HasSuffix(text, "\n") {
			return fmt.Errorf(
				"the script %s cannot be a block of YAML: end it with one line end, without spaces at the end of the file or of empty lines", name)
		}
	}
	return nil
}
