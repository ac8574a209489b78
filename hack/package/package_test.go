/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifests = `apiVersion: v1
kind: Namespace
metadata:
  labels:
    a: b
  name: system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: binding
roleRef:
  kind: Role
  name: manager-role
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: databasecluster-operator-protected-clusters
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: databasecluster-operator-secret-writes
spec:
  failurePolicy: Fail
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v1
  name: databaseclusters.database.dbcluster.io
spec:
  maximum: 9223372036854775
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: databasecluster-operator-manager-role
rules:
- verbs:
  - get
`

func parts(t *testing.T) []document {
	t.Helper()
	all, err := split(manifests)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestManifestsAreTakenApartByKindAndName(t *testing.T) {
	var got []string
	for _, d := range parts(t) {
		got = append(got, d.kind+" "+d.name)
	}
	want := "Namespace system, RoleBinding binding, ValidatingAdmissionPolicy databasecluster-operator-protected-clusters, " +
		"ValidatingAdmissionPolicy databasecluster-operator-secret-writes, CustomResourceDefinition databaseclusters.database.dbcluster.io, ClusterRole databasecluster-operator-manager-role"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if join(parts(t)) != manifests {
		t.Error("what was taken apart is not the same when it is put together")
	}
}

func TestInvalidManifestsAreRejected(t *testing.T) {
	for what, text := range map[string]string{"nothing": "\n", "a manifest without a kind": "metadata:\n  name: x\n", "one without a name": "kind: X\n"} {
		if _, err := split(text); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

func TestInvalidImagesAreRejected(t *testing.T) {
	for image, good := range map[string]bool{
		"registry.example.com:5000/a/operator:v1": true, "operator@sha256:0a": true, "bad image": false, ":v1": false, "": false,
	} {
		got, err := imageOf("kind: Deployment\n      - args: []\n        image: " + image + "\n        image: other\n")
		if good != (err == nil) || good && got != image {
			t.Errorf("of %q it makes %q, %v", image, got, err)
		}
	}
	if _, err := imageOf("kind: Deployment\n"); err == nil {
		t.Error("manifests without an image were taken")
	}
}

func TestRetainedObjectsAreInASeparateFileDefinitionsFirst(t *testing.T) {
	folder := t.TempDir()
	if err := writeManifests(folder, parts(t)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"crds.yaml":     "Namespace CustomResourceDefinition ValidatingAdmissionPolicy",
		"operator.yaml": "RoleBinding ClusterRole ValidatingAdmissionPolicy",
		"install.yaml":  "Namespace CustomResourceDefinition ValidatingAdmissionPolicy RoleBinding ClusterRole ValidatingAdmissionPolicy",
		// OLM installs the rest of operator.yaml.
		"secret-writes.yaml": "ValidatingAdmissionPolicy",
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		all, err := split(string(text))
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, d := range all {
			kinds = append(kinds, d.kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}

func TestRetainedObjectsHaveTheKeepAnnotation(t *testing.T) {
	files := fromConfig(parts(t))
	for file, want := range map[string]string{
		"crds/databaseclusters.yaml": "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n    controller-gen.kubebuilder.io/version: v1\n  name: databaseclusters",
		"admission.yaml":             "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n  name: databasecluster-operator-protected-clusters\n",
	} {
		if !strings.Contains(files[file], want) {
			t.Errorf("%s does not say\n%s\nbut\n%s", file, want, files[file])
		}
	}
	if !strings.Contains(files["crds/databaseclusters.yaml"], "maximum: 9223372036854775\n") {
		t.Error("a number of the CRD changed")
	}
	if strings.Contains(files["admission.yaml"], "secret-writes") || files["policies/secret-writes.yaml"] != "spec:\n  failurePolicy: Fail\n" {
		t.Errorf("the policy of the operator is kept, or its spec is not %q", files["policies/secret-writes.yaml"])
	}
	if got := files["rules/manager-role.yaml"]; got != "rules:\n- verbs:\n  - get\n" {
		t.Errorf("the rules of manager-role are %q", got)
	}
}

func TestEachValueOfTheChartHasAComment(t *testing.T) {
	for text, want := range map[string]string{
		"# About all.\n\n# How many.\nreplicas: 2\nimage:\n  # Over\n  # two lines.\n  tag: \"\"\n# Below it nothing needs one.\nresources:\n  limits: {memory: 1Gi}\n": "",
		"# Explained.\na: 1\nb: 2\n":           "values.yaml: b has no comment",
		"a:\n  # Explained.\n  b: 1\n  c: 2\n": "values.yaml: a.c has no comment",
	} {
		if err := described([]byte(text)); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("got %v, want %q for\n%s", err, want, text)
		}
	}
}
