/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

const documents = `apiVersion: v1
kind: Secret
metadata: {name: orders}
---
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: other}
---
apiVersion: v1
kind: List
items:
- apiVersion: database.dbcluster.io/v1alpha1
  kind: DatabaseUser
  metadata: {name: billing}
- apiVersion: database.dbcluster.io/v1alpha1
  kind: DatabaseCluster
  metadata: {name: orders, namespace: shop}
  spec: {replicas: 3}
- apiVersion: database.dbcluster.io/v1alpha1
  kind: DatabaseCluster
  metadata: {name: orders, namespace: bank}
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseRestore
metadata: {name: yesterday}
`

func TestTheManifestOfAClusterIsFoundAmongOthersAndInLists(t *testing.T) {
	s, _, _ := offline(t)
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(documents), 0o600); err != nil {
		t.Fatal(err)
	}
	found, others, err := s.manifestOf(file, "orders", "shop")
	if err != nil || found.GetKind() != "DatabaseCluster" || found.GetNamespace() != "shop" || len(others) != 5 {
		t.Fatalf("got %v, %d others, %v", found, len(others), err)
	}
	for want, given := range map[string][2]string{
		"all.yaml has no DatabaseCluster none":                {"none", "shop"},
		"has namespace bank, and you named home: add -n bank": {"orders", "home"},
	} {
		if _, _, err := s.manifestOf(file, given[0], given[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s.In = strings.NewReader(documents)
	if found, _, err := s.manifestOf("-", "other", "shop"); err != nil || found.GetName() != "other" {
		t.Errorf("from the standard input: %v, %v", found, err)
	}
	s.In = strings.NewReader(documents + "---\n" + strings.Split(documents, "---\n")[2])
	if _, _, err := s.manifestOf("-", "other", "shop"); err == nil || !strings.Contains(err.Error(), "has DatabaseCluster other twice") {
		t.Errorf("got %v", err)
	}
}

// A user would think that diff has judged the whole file.
func TestEachObjectThatIsNotComparedIsNamed(t *testing.T) {
	s, _, _ := offline(t)
	s.In = strings.NewReader(documents)
	_, others, err := s.manifestOf("-", "orders", "shop")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Secret orders is not compared. The result is for the one of the API server now.",
		"DatabaseCluster other is not compared. kubectl dbc diff other -f all.yaml does that.",
		"DatabaseUser billing is not compared. A Job puts it in force in the database, and no member restarts for it.",
		"DatabaseCluster orders is not compared. kubectl dbc -n bank diff orders -f all.yaml does that.",
		"DatabaseRestore yesterday is not compared. Its effect on the cluster is not shown.",
	}
	if got := notCompared("all.yaml", others); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func applied(manager string, operation metav1.ManagedFieldsOperationType, minute int) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Time: new(metav1.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))}
}

func TestTheDryRunIsThatOfTheLastApply(t *testing.T) {
	apply, update := metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	status := applied("status-writer", apply, 9)
	status.Subresource = "status"
	for name, c := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		given  string
		want   string
		note   string
	}{
		"no client has applied it":  {[]metav1.ManagedFieldsEntry{applied("helm", update, 1), applied(dbv1.FieldOwner, apply, 2), status}, "", "kubectl", "Field manager kubectl has not applied DatabaseCluster orders yet, so fields that the manifest lacks stay."},
		"one manager":               {[]metav1.ManagedFieldsEntry{applied("argocd-controller", apply, 1), applied("kubectl-edit", update, 2)}, "", "argocd-controller", ""},
		"two managers":              {[]metav1.ManagedFieldsEntry{applied("kubectl", apply, 1), applied("kustomize-controller", apply, 2)}, "", "kustomize-controller", "Several field managers have applied it: kustomize-controller, kubectl."},
		"the one that you name":     {[]metav1.ManagedFieldsEntry{applied("kubectl", apply, 1), applied("kustomize-controller", apply, 2)}, "kubectl", "kubectl", ""},
		"one that has not, so far":  {[]metav1.ManagedFieldsEntry{applied("kubectl", apply, 1)}, "argocd-controller", "argocd-controller", "Field manager argocd-controller has not applied"},
		"an entry without its time": {[]metav1.ManagedFieldsEntry{{Manager: "old", Operation: apply}, applied("kubectl", apply, 1)}, "", "kubectl", "Several"},
	} {
		live := &unstructured.Unstructured{Object: map[string]any{}}
		live.SetName("orders")
		live.SetManagedFields(c.fields)
		got, notes := applier(live, c.given)
		if got != c.want || (c.note == "") != (len(notes) == 0) || !strings.Contains(strings.Join(notes, " "), c.note) {
			t.Errorf("%s: got %s, %q", name, got, notes)
		}
	}
}

// A cluster of kubectl apply has an annotation. That does not replace the field manager that the user names.
func TestAFieldManagerThatYouNameIsUsed(t *testing.T) {
	known, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Annotations: map[string]string{lastApplied: `{"spec":{}}`}}}
	sent := ""
	store := interceptor.NewClient(fakeclient.For(known).WithObjects(cluster).Build(), interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			o := (&client.ApplyOptions{}).ApplyOptions(options)
			sent = "apply of " + o.FieldManager + " " + strings.Join(o.DryRun, "")
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, _ client.Object, patch client.Patch, options ...client.PatchOption) error {
			sent = string(patch.Type()) + " " + strings.Join((&client.PatchOptions{}).ApplyOptions(options).DryRun, "")
			return nil
		},
	})
	manifest := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "orders"}, "spec": map[string]any{}}}
	manifest.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	for given, want := range map[string]string{"": "application/merge-patch+json All", "argocd-controller": "apply of argocd-controller All"} {
		if _, _, err := (&target{Client: store, namespace: "shop"}).dryRun(t.Context(), manifest, given); err != nil || sent != want {
			t.Errorf("with %q, sent %q, %v", given, sent, err)
		}
	}
}
