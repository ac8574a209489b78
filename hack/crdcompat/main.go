/*
SPDX-License-Identifier: Apache-2.0
*/

// Command crdcompat checks that the CRDs of a release accept all objects of the previous release. It runs crdify on
// every previous CRD, with the rules of Operator Lifecycle Manager v1. It checks names, served versions and
// subresources itself, because crdify does not. First it plants breaking changes, one at a time, and must find each: so
// the check itself is tested.
//
//	go run ./hack/crdcompat CRDIFY OLD-FOLDER NEW-FOLDER
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const folder = "hack/crdcompat/"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: crdcompat CRDIFY OLD-FOLDER NEW-FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(crdify, before, after string) error {
	accepted, err := load[[]acceptance](folder + "accepted.yaml")
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "crdcompat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	files, err := install(before, scratch)
	if err != nil {
		return err
	}
	if err := findsPlants(crdify, files, scratch); err != nil {
		return err
	}
	var changes []change
	for _, file := range files {
		found, err := compare(crdify, file, filepath.Join(after, filepath.Base(file)))
		if err != nil {
			return err
		}
		changes = append(changes, found...)
	}
	if err := verdict(changes, *accepted); err != nil {
		return err
	}
	fmt.Printf("the CRDs accept all objects of the previous release: %d compared, %d changes accepted; %d planted changes were found\n",
		len(files), len(*accepted), len(plants))
	return nil
}

// install writes CRDs as in a cluster that may store objects of every version.
func install(from, to string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		crd, err := load[definition](file)
		if err != nil {
			return nil, err
		}
		for _, version := range crd.Spec.Versions {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, version.Name)
		}
		files[i] = filepath.Join(to, filepath.Base(file))
		if err := write(files[i], crd); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func load[T any](file string) (*T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := new(T)
	if err := yaml.UnmarshalStrict(text, read); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return read, nil
}

func write(file string, crd *definition) error {
	text, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// compare returns the breaking changes between two files with a CRD each.
func compare(crdify, before, after string) ([]change, error) {
	name := filepath.Base(before)
	if _, err := os.Stat(after); errors.Is(err, os.ErrNotExist) {
		return []change{{File: name, Check: "removed", what: "the CRD was removed, with all objects of its kind"}}, nil
	}
	changes, err := ask(crdify, before, after)
	if err != nil {
		return nil, err
	}
	was, err := load[definition](before)
	if err != nil {
		return nil, err
	}
	is, err := load[definition](after)
	if err != nil {
		return nil, err
	}
	return append(changes, surface(name, was, is)...), nil
}

// ask returns the findings of crdify.
func ask(crdify, before, after string) ([]change, error) {
	name := filepath.Base(before)
	command := exec.Command(crdify, "--config", folder+"crdify.yaml", "--output", "json", "file://"+before, "file://"+after)
	output, err := command.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return nil, fmt.Errorf("run crdify: %w", err)
	}
	changes, readErr := read(name, output)
	switch {
	case failed != nil && len(failed.Stderr) > 0:
		return nil, fmt.Errorf("crdify %s: %s", name, strings.TrimSpace(string(failed.Stderr)))
	case readErr != nil:
		return nil, readErr
	case (failed == nil) != (len(changes) == 0):
		return nil, fmt.Errorf("crdify %s: it found %d changes and ended with %w", name, len(changes), err)
	}
	return changes, nil
}
