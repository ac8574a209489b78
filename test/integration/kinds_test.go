//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/crd"
)

// definitions are the CRDs of the API kinds.
func definitions(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crd.Definitions()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d CRDs: %v", len(all), err)
	}
	return all
}

// sampleOf returns the object of a kind in config/samples.
func sampleOf(t *testing.T, kind apiextensionsv1.CustomResourceDefinition, ns string) *unstructured.Unstructured {
	t.Helper()
	sample := &unstructured.Unstructured{}
	if err := load("../../config/samples/database_"+dbv1.GroupVersion.Version+"_"+kind.Spec.Names.Singular+".yaml", &sample.Object); err != nil {
		t.Fatal(err)
	}
	if kind.Spec.Scope == apiextensionsv1.NamespaceScoped {
		sample.SetNamespace(ns)
	}
	return sample
}

// plain returns the function for an object of a kind with a valid spec, but for the given fields.
func plain(t *testing.T, plural string) func(ns string, spec fields) *unstructured.Unstructured {
	t.Helper()
	if own := kinds[plural]; own.plain != nil {
		return own.plain
	}
	for _, kind := range definitions(t) {
		if kind.Spec.Names.Plural == plural {
			return func(ns string, spec fields) *unstructured.Unstructured {
				sample := sampleOf(t, kind, ns)
				sample.Object["spec"] = with(sample.Object["spec"].(fields), spec)
				return sample
			}
		}
	}
	t.Fatalf("there is no kind %s", plural)
	return nil
}
