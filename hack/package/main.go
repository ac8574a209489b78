/*
SPDX-License-Identifier: Apache-2.0
*/

// Command package turns the manifests of config/default, as kustomize prints them, into what people install.
//
//	kustomize build config/default | go run ./hack/package manifests DIR
//	kustomize build config/default | go run ./hack/package chart VERSION
//
// The first writes crds.yaml, operator.yaml and install.yaml, which is both, and secret-writes.yaml, a part of
// operator.yaml; the second what the Helm chart has from config. It runs in the root of the repository.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(arguments []string, input io.Reader) error {
	if len(arguments) != 2 {
		return errors.New("a command is required: manifests DIR, or chart VERSION")
	}
	text, err := io.ReadAll(input)
	if err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	documents, err := split(string(text))
	if err != nil {
		return err
	}
	switch arguments[0] {
	case "manifests":
		image, err := imageOf(string(text))
		if err != nil {
			return err
		}
		fmt.Printf("writing crds.yaml, operator.yaml and, as both, install.yaml to %s, with the image %s\n", arguments[1], image)
		return writeManifests(arguments[1], documents)
	case "chart":
		return writeChart(arguments[1], documents)
	}
	return fmt.Errorf("%q is neither manifests nor chart", arguments[0])
}
