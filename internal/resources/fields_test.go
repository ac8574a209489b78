/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// unset are the fields that full.input.yaml cannot set because it sets an alternative, each with the reason.
var unset = map[string]string{
	"spec.backup.destination.claimName":             "the url is s3://…; smallest.backup-job.golden.yaml has a claim",
	"spec.backup.destination.credentialSource":      "credentialsSecretName is set",
	"spec.bootstrap.fromBackup.location":            "name is set",
	"spec.bootstrap.fromBackup.newest":              "name is set; spread.search-job.golden.yaml has it",
	"spec.bootstrap.fromBackup.ifMissing":           "it is only for newest",
	"spec.bootstrap.fromBackup.recoveryTarget.name": "time is set",
	"spec.scheduling.spread":                        "topologySpreadConstraints are set; spread.statefulset.golden.yaml has both policies",
	"spec.serviceAccount.annotations":               "name is set; generated.serviceaccount.golden.yaml has annotations",
	"spec.storage.ephemeral":                        "storageClassName is set; ephemeral.statefulset.golden.yaml has an ephemeral volume",
}

func TestTheFullInputSetsEveryFieldOfTheSpec(t *testing.T) {
	missing := missingFields("spec", []reflect.Value{reflect.ValueOf(full(t).Spec)})
	for _, field := range missing {
		if unset[field] == "" {
			t.Errorf("%s is not in testdata/full.input.yaml: add it there, then run go test ./internal/resources -update and read the diff", field)
		}
	}
	for field := range maps.Keys(unset) {
		if !slices.Contains(missing, field) {
			t.Errorf("%s is in the list unset, and it is set or no field of the spec: delete it from that list", field)
		}
	}
}

// missingFields are the fields that none of these structs sets. It searches the structs of this API to every depth.
// A field of a Kubernetes type only has to be set.
func missingFields(path string, structs []reflect.Value) (missing []string) {
	for field := range structs[0].Type().Fields() {
		at := path
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			at += "." + name
		}
		var values []reflect.Value
		for _, s := range structs {
			values = append(values, elements(s.FieldByIndex(field.Index))...)
		}
		switch {
		case len(values) == 0:
			missing = append(missing, at)
		case ours(values[0].Type()):
			if field.Type.Kind() == reflect.Slice {
				at += "[]"
			}
			missing = append(missing, missingFields(at, values)...)
		}
	}
	return missing
}

// elements are the elements of a slice or a map, the target of a pointer, or the value itself.
func elements(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			all = append(all, v.Elem())
		}
	case reflect.Slice, reflect.Map:
		for _, element := range v.Seq2() {
			all = append(all, element)
		}
	default:
		if !v.IsZero() {
			all = append(all, v)
		}
	}
	return all
}

// ours reports whether a type is a struct of this API.
func ours(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[dbv1.DatabaseClusterSpec]().PkgPath()
}
