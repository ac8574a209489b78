/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"maps"
	"os"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// schemaOfCluster is the schema of the installed CRD.
var schemaOfCluster = sync.OnceValue(func() apiextensionsv1.JSONSchemaProps {
	text, err := os.ReadFile("../../config/crd/bases/database.dbcluster.io_databaseclusters.yaml")
	if err != nil {
		panic(err)
	}
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		panic(err)
	}
	return *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
})

// withDefaults returns a cluster with the defaults of the CRD.
func withDefaults(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	if err != nil {
		panic(err)
	}
	setDefaults(object, schemaOfCluster())
	defaulted := &dbv1.DatabaseCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, defaulted); err != nil {
		panic(err)
	}
	return defaulted
}

func setDefaults(object map[string]any, schema apiextensionsv1.JSONSchemaProps) {
	for name, property := range maps.All(schema.Properties) {
		if _, set := object[name]; !set && property.Default != nil {
			var value any
			if err := yaml.Unmarshal(property.Default.Raw, &value); err != nil {
				panic(err)
			}
			object[name] = value
		}
		if inner, ok := object[name].(map[string]any); ok {
			setDefaults(inner, property)
		}
	}
}
