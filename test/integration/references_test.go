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

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/test/rights"
)

// references returns all fields of the CRDs that name an object in a namespace.
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

// pointing returns a valid object in which one field names another object.
func pointing(t *testing.T, ns string, reference rights.Reference, name string) *unstructured.Unstructured {
	t.Helper()
	spec := fields{}
	if reference.Kind == "DatabaseCluster" {
		spec = fields{"engine": "references-v1", "storage": fields{"size": "1Gi"}} // the engine has a restore action
	}
	if reference.Kind == "DatabaseRestore" {
		spec = fields{"source": fields{}} // without a moment: the engine has no action recover
	}
	made := plain(t, strings.ToLower(reference.Kind)+"s")(ns, spec)
	write(made.Object, strings.Split(reference.Path, "."), name)
	made.SetName("")
	made.SetGenerateName("reaching-")
	return made
}

var identified = map[string]any{"url": "s3://bucket", "credentialSource": "WorkloadIdentity"}

// besides are sibling fields that a valid object needs, by the path of their parent.
var besides = map[string]map[string]any{
	"configMapKeyRef": {"key": "key"}, "secretKeyRef": {"key": "key"}, "env[]": {"name": "VARIABLE"}, "initContainers[]": {"name": "one"}, "sidecars[]": {"name": "one"},
	"volumes[]": {"name": "one"}, "csi": {"driver": "one"}, "destination": identified, "location": identified,
	"autoResize": {"cpu": map[string]any{"min": "1", "max": "2"}},
}

// write sets the field at a path and the required fields on the way.
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

// unread and the variables of a companion are fields that the operator does not read in a cluster. It passes them to the kubelet, which looks in the
// pod's namespace, or reads them only for a backup, as in a DatabaseBackup, or if the API server has the kind.
var unread = []string{"spec.pod.imagePullSecrets[].name", "spec.backup.destination.claimName", "spec.backup.destination.credentialsSecretName",
	"spec.backup.destination.encryptionSecretName", "spec.autoResize.autoscalerRef.name"}

// A field cannot refer to an object in another namespace. If the name includes a namespace, the API server refuses it
// or the operator finds no object.
func TestNoFieldReachesIntoAnotherNamespace(t *testing.T) {
	parallel(t)
	here, there, elsewhere := safe(t, "references-v1", yields).Namespace, namespace(t), namespace(t)
	people := smallest(here, "people") // its engine has users
	people.Spec.Engine = accountant(t)
	create(t, people)
	meta := metav1.ObjectMeta{Namespace: there, Name: "theirs"}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	create(t, claim)
	create(t, &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": "value"}})
	create(t, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": "value"}})
	create(t, smallest(elsewhere, "theirs")) // separate, because the operator reads its own namespace
	create(t, &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "theirs"}, Spec: dbv1.DatabaseBackupSpec{Cluster: "theirs"}})

	refused := 0
	for _, name := range []string{"theirs", there + "/theirs", elsewhere + "/theirs"} {
		objects := map[*unstructured.Unstructured]rights.Reference{}
		for _, reference := range references(t) {
			object := pointing(t, here, reference, name)
			if object.GetKind() == accounts.KindUser && reference.Path == "spec.secretName" {
				if err := unstructured.SetNestedField(object.Object, people.Name, "spec", "clusterRef", "name"); err != nil {
					t.Fatal(err)
				}
			}
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
			if !slices.Contains(unread, reference.Path) && !(reference.Kind == "DatabaseCompanion" && strings.HasPrefix(reference.Path, "spec.container.")) {
				awaitNotFound(t, object, reference, name)
			}
		}
	}
	if refused == 0 {
		t.Error("the API server refused no name with a namespace")
	}
	if sent := requests.in(there, 0); len(sent) > 0 {
		t.Errorf("the operator read the other namespace: %v", sent)
	}
}

// awaitNotFound waits until the operator reports that the named object does not exist.
func awaitNotFound(t *testing.T, object *unstructured.Unstructured, reference rights.Reference, name string) {
	t.Helper()
	await(t, object, fmt.Sprintf("the operator not to find %s %s, named in %s", reference.To, name, reference), func() bool {
		return containsAll(fmt.Sprint(object.Object["status"]), reference.To+" "+name, "does not exist")
	})
}
