//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/rights"
)

// references are all the fields that name an object of a namespace, by the CRDs.
func references(t *testing.T) []rights.Reference {
	t.Helper()
	fields, err := rights.Fields("../../config/crd/bases")
	if err != nil {
		t.Fatal(err)
	}
	all, err := rights.References(fields)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(r rights.Reference) bool { return r.Everywhere })
}

// pointing is an object of which one field names another; all else in it is there so that it is valid.
func pointing(t *testing.T, ns string, reference rights.Reference, name string) *unstructured.Unstructured {
	t.Helper()
	cluster := smallest(ns, "")
	cluster.Spec.Engine = "references-v1" // which can restore
	var object any = cluster
	if reference.Kind == "DatabaseBackup" {
		object = &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	write(fields, strings.Split(reference.Path, "."), name)
	made := &unstructured.Unstructured{Object: fields}
	made.SetGroupVersionKind(dbv1.GroupVersion.WithKind(reference.Kind))
	made.SetGenerateName("reaching-")
	return made
}

var identified = map[string]any{"url": "s3://bucket", "credentialSource": "WorkloadIdentity"}

// besides are fields beside those that name something, by the path to the object that they are in.
var besides = map[string]map[string]any{
	"configMapKeyRef": {"key": "key"}, "secretKeyRef": {"key": "key"}, "env[]": {"name": "VARIABLE"}, "initContainers[]": {"name": "one"}, "sidecars[]": {"name": "one"},
	"volumes[]": {"name": "one"}, "destination": identified, "location": identified,
}

// write sets the field at a path, and what is required on the way there.
func write(into map[string]any, path []string, value any) {
	at := path[0]
	name, isList := strings.CutSuffix(at, "[]")
	if len(path) == 1 {
		into[name] = value
		if name == "claimName" {
			into["url"] = "file:///directory"
		}
		if name == "claimName" || name == "credentialsSecretName" {
			delete(into, "credentialSource")
		}
		return
	}
	next, found := into[name].(map[string]any)
	if !found {
		next = map[string]any{}
		maps.Copy(next, besides[at])
	}
	write(next, path[1:], value)
	into[name] = next
	if isList {
		into[name] = []any{next}
	}
}

// unread are fields that the operator passes on to the kubelet, which looks in the pod's namespace, or reads only when a
// backup is made: the DatabaseBackup's own are read alike.
var unread = []string{"spec.pod.imagePullSecrets[].name", "spec.backup.destination.claimName", "spec.backup.destination.credentialsSecretName",
	"spec.backup.destination.encryptionSecretName"}

// What exists in another namespace does not exist in one's own, and no name leads there: with a namespace before it, the
// API server refuses it, or the operator finds nothing.
func TestNoFieldReachesIntoAnotherNamespace(t *testing.T) {
	parallel(t)
	here, there, elsewhere := safe(t, "references-v1", yields).Namespace, namespace(t), namespace(t)
	meta := metav1.ObjectMeta{Namespace: there, Name: "theirs"}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	create(t, claim)
	create(t, &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": "value"}})
	create(t, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": "value"}})
	create(t, smallest(elsewhere, "theirs")) // apart from the others: these the operator does look at
	create(t, &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "theirs"}, Spec: dbv1.DatabaseBackupSpec{Cluster: "theirs"}})

	refused := 0
	for _, name := range []string{"theirs", there + "/theirs", elsewhere + "/theirs"} {
		objects := map[*unstructured.Unstructured]rights.Reference{}
		for _, reference := range references(t) {
			object := pointing(t, here, reference, name)
			switch err := admin.Create(t.Context(), object); {
			case err == nil:
				objects[object] = reference
			case apierrors.IsInvalid(err) && name != "theirs":
				refused++
			default:
				t.Fatalf("%s: %v", reference, err)
			}
		}
		for object, reference := range objects {
			if !slices.Contains(unread, reference.Path) {
				awaitNotFound(t, object, reference, name)
			}
		}
	}
	if refused == 0 {
		t.Error("no name with a namespace before it was refused")
	}
	if sent := requests.in(there, 0); len(sent) > 0 {
		t.Errorf("the operator looked into the other namespace: %v", sent)
	}
}

// awaitNotFound waits until the operator says that what a field names does not exist.
func awaitNotFound(t *testing.T, object *unstructured.Unstructured, reference rights.Reference, name string) {
	t.Helper()
	await(t, object, fmt.Sprintf("%s %s, which %s names, not to be found", reference.To, name, reference), func() bool {
		return containsAll(fmt.Sprint(object.Object["status"]), reference.To+" "+name, "does not exist")
	})
}
