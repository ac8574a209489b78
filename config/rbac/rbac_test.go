/*
SPDX-License-Identifier: Apache-2.0
*/

package rbac

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEveryObjectHasAKindAndAName(t *testing.T) {
	objects, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() == "" || object.GetName() == "" {
			t.Errorf("an object has kind %q and name %q", object.GetKind(), object.GetName())
		}
	}
	if len(objects) < 10 {
		t.Errorf("there are only %d objects", len(objects))
	}
}

func TestTheFilesAreThoseOfTheKustomization(t *testing.T) {
	text, err := files.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	there, err := fs.Glob(files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	there = slices.DeleteFunc(there, func(name string) bool { return name == "kustomization.yaml" })
	slices.Sort(kustomization.Resources)
	if !slices.Equal(there, kustomization.Resources) {
		t.Errorf("the files are %s, the kustomization names %s", strings.Join(there, " "), strings.Join(kustomization.Resources, " "))
	}
}
