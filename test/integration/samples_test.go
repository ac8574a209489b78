//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// documents separates the objects of a manifest.
var documents = regexp.MustCompile(`(?m)^---$`)

// The API server would drop an unknown field without a message, so the validation is strict.
func TestTheAPIServerAcceptsEverySample(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	count := 0
	for _, pattern := range []string{"../../config/samples/gallery/*.yaml", "../../config/samples/database_*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		count += len(files)
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, document := range documents.Split(string(text), -1) {
					mustBeAccepted(t, ns, document)
				}
			})
		}
	}
	if count < 15 {
		t.Errorf("only %d samples exist", count)
	}
}

func mustBeAccepted(t *testing.T, ns, document string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
		t.Fatal(err)
	}
	if object.GetKind() == "DatabaseEngine" { // an engine is cluster-scoped, and another test creates the same one
		object.SetName("strict-" + object.GetName())
	} else {
		object.SetNamespace(ns)
	}
	if err := admin.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
}
