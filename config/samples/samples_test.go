/*
SPDX-License-Identifier: Apache-2.0
*/

// Package samples validates the manifests of the gallery without Kubernetes.
package samples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// gallery returns the text of every file by its name, without .yaml.
func gallery(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("gallery/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = string(text)
	}
	if len(all) < 12 {
		t.Fatalf("there are only %d samples", len(all))
	}
	return all
}

func TestThePageListsEverySampleOnce(t *testing.T) {
	page, err := os.ReadFile("../../docs/samples.md")
	if err != nil {
		t.Fatal(err)
	}
	all := gallery(t)
	for name := range all {
		if words := "[" + name + "](../config/samples/gallery/" + name + ".yaml)"; strings.Count(string(page), words) != 1 {
			t.Errorf("docs/samples.md must have %s once", words)
		}
	}
	for _, link := range regexp.MustCompile(`gallery/([-a-z0-9]+)\.yaml`).FindAllStringSubmatch(string(page), -1) {
		if all[link[1]] == "" {
			t.Errorf("docs/samples.md lists %s, which does not exist", link[1])
		}
	}
}

// made are Secrets that the comment of a sample creates; named are Secrets that its objects reference.
var (
	made  = regexp.MustCompile(`(?m)^#   kubectl create secret generic ([-a-z0-9]+)`)
	named = regexp.MustCompile(`(?m)^[^#]* (?:secretName|credentialsSecretName|encryptionSecretName): ([-a-z0-9]+)`)
)

func TestTheCommentOfASampleCreatesTheSecretsThatItNames(t *testing.T) {
	for name, text := range gallery(t) {
		if name == "restore-by-name" { // the Secret of the cluster that was backed up
			continue
		}
		created := map[string]bool{}
		for _, secret := range made.FindAllStringSubmatch(text, -1) {
			created[secret[1]] = true
		}
		for _, secret := range named.FindAllStringSubmatch(text, -1) {
			if !created[secret[1]] {
				t.Errorf("%s names the Secret %s, and its comment does not create it", name, secret[1])
			}
		}
	}
}

func TestTheEngineOfTheGalleryIsAccepted(t *testing.T) {
	e := ownEngine(t)
	if text := engine.Declared(e, engine.Actions...); text != "" {
		t.Error(text)
	}
}

// ownEngine returns the DatabaseEngine of own-engine.yaml.
func ownEngine(t *testing.T) *dbv1.DatabaseEngine {
	t.Helper()
	first, _, _ := strings.Cut(gallery(t)["own-engine"], "\n---\n")
	e := &dbv1.DatabaseEngine{}
	if err := yaml.Unmarshal([]byte(first), e); err != nil || len(e.Spec.Scripts) == 0 {
		t.Fatalf("%v: %+v", err, e)
	}
	return e
}

func TestTheCommentOfASampleNamesTheSecretsThatOtherSamplesCreate(t *testing.T) {
	samples := map[string][]string{} // by the Secret that their comments create
	all := gallery(t)
	for name, text := range all {
		for _, secret := range made.FindAllStringSubmatch(text, -1) {
			samples[secret[1]] = append(samples[secret[1]], name)
		}
	}
	shared := regexp.MustCompile(`(?s)share the Secrets? .*?: create (?:it|each) once`)
	for secret, names := range samples {
		for _, name := range names {
			comment := shared.FindString(strings.ReplaceAll(all[name], "\n# ", " "))
			if says, is := strings.Contains(comment, secret), len(names) > 1; says != is {
				t.Errorf("%s: the Secret %s is shared: %t; its comment says so: %t", name, secret, is, says)
			}
		}
	}
}
