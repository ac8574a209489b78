/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/dbcluster/databasecluster-operator/config/crd"
)

func TestTheFilesAreCurrent(t *testing.T) {
	kinds, err := crd.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(kinds)
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for name, want := range files {
		if got, err := os.ReadFile("../../" + name); err != nil || string(got) != want {
			t.Errorf("%s is not current (%v): run make manifests", name, err)
		}
	}
}

// kind is a namespaced kind with a status, or a cluster-scoped one without.
func kind(name string, scope apiextensionsv1.ResourceScope) apiextensionsv1.CustomResourceDefinition {
	kind := apiextensionsv1.CustomResourceDefinition{}
	kind.Spec.Group, kind.Spec.Scope = "database.dbcluster.io", scope
	kind.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: name, Singular: strings.ToLower(name), Plural: strings.ToLower(name) + "s"}
	kind.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1"}}
	if scope == apiextensionsv1.NamespaceScoped {
		kind.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return kind
}

func TestANewKindIsInEveryFile(t *testing.T) {
	files, err := render([]apiextensionsv1.CustomResourceDefinition{kind("DatabasePool", apiextensionsv1.NamespaceScoped), kind("DatabaseRegion", apiextensionsv1.ClusterScoped)})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"PROJECT":                           {"namespaced: true\n  controller: true\n  domain: dbcluster.io\n  group: database\n  kind: DatabasePool\n", "namespaced: false\n  controller"},
		"config/crd/kustomization.yaml":     {"\n- bases/database.dbcluster.io_databasepools.yaml\n- bases/database.dbcluster.io_databaseregions.yaml\n"},
		"config/samples/kustomization.yaml": {"\n- database_v1alpha1_databasepool.yaml\n- database_v1alpha1_databaseregion.yaml\n"},
		"config/argocd/kustomization.yaml":  {"\n  - resource.customizations.health.database.dbcluster.io_DatabasePool=health.lua\n"},
		"config/rbac/user_roles.yaml": {
			"resources: [databasepools]\n  verbs: [create, delete, get, list, watch, patch, update, deletecollection]\n", "resources: [databasepools/status]\n  verbs: [get]\n",
			"resources: []\n  verbs: [get, patch, update]\n", "resources: [databaseregions]\n  verbs: [get, list, watch]\n",
		},
	} {
		for _, text := range want {
			if !strings.Contains(files[name], text) {
				t.Errorf("%s has no %q:\n%s", name, text, files[name])
			}
		}
	}
	if roles := files["config/rbac/user_roles.yaml"]; strings.Contains(roles, "databaseregions/") || strings.Count(roles, "[databaseregions]") != 2 {
		t.Errorf("users may do more than view a cluster-scoped kind:\n%s", roles)
	}
}
