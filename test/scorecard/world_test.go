/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/manifests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

var shipped = sync.OnceValues(func() (*manifests.Bundle, error) { return manifests.GetBundleFromDir(bundleFolder) })

func bundle(t *testing.T) *manifests.Bundle {
	t.Helper()
	read, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// testWorld returns a world with these objects and without an operator.
func testWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, dbv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	sample, err := sampleOf(bundle(t).CSV)
	if err != nil {
		t.Fatal(err)
	}
	connected := fakeclient.For(scheme).WithObjects(objects...).WithStatusSubresource(&dbv1.DatabaseCluster{}).Build()
	return &world{connected, "shop", "scorecard-abc", sample}
}

// soon returns a context with a short timeout, for conditions that never occur.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func child(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "1", Labels: of("scorecard-abc")}
}

func TestTheSampleGetsANameAndASecretOfItsOwn(t *testing.T) {
	w := testWorld(t)
	sample, keys := w.ownSample()
	if sample.Name != w.name || sample.Namespace != "shop" || len(keys) == 0 {
		t.Errorf("the sample is %s/%s with keys %q", sample.Namespace, sample.Name, keys)
	}
	for _, variable := range sample.Spec.Container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef.Name != w.name {
			t.Errorf("%s is from Secret %s", variable.Name, variable.ValueFrom.SecretKeyRef.Name)
		}
	}
}

func TestAlmExamplesWithoutACleanDatabaseClusterAreRefused(t *testing.T) {
	for want, change := range map[string]func(string) string{
		"has no DatabaseCluster among 0 objects": func(string) string { return "[]" },
		"is not a list of objects":               func(string) string { return "{}" },
		`unknown field "color"`:                  func(text string) string { return strings.Replace(text, `"replicas": 3`, `"color": 3`, 1) },
	} {
		csv := bundle(t).CSV.DeepCopy()
		csv.Annotations["alm-examples"] = change(csv.Annotations["alm-examples"])
		if _, err := sampleOf(csv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func TestASampleThatDoesNotBecomeAvailableFailsWithAReason(t *testing.T) {
	w := testWorld(t)
	if err := w.sampleBecomesAvailable(soon(t)); err == nil || !strings.Contains(err.Error(), "DatabaseCluster scorecard-abc must become Available: timeout: it has no condition Available") {
		t.Errorf("the error is %v", err)
	}
	var cluster dbv1.DatabaseCluster
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "scorecard-abc"}, &cluster); err != nil {
		t.Fatal(err)
	}
	meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{Type: "Available", Status: "False", Reason: "Creating", Message: "no image"})
	if err := w.Status().Update(t.Context(), &cluster); err != nil {
		t.Fatal(err)
	}
	if err := w.turns(soon(t), &cluster, "Available"); err == nil || !strings.Contains(err.Error(), "it is False, Creating: no image") {
		t.Errorf("the error is %v", err)
	}
}

func TestAConditionOfAnEarlierSpecIsNotWaitedFor(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: child("scorecard-abc")}
	cluster.Generation = 2
	cluster.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", ObservedGeneration: 1}}
	w := testWorld(t, cluster)
	if err := w.turns(soon(t), cluster, "Ready"); err == nil || !strings.Contains(err.Error(), "generation 1 of 2") {
		t.Errorf("the error is %v", err)
	}
}

func TestRemainingObjectsOfAClusterAreAFailure(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: child("data-scorecard-abc-0")}
	pod := &corev1.Pod{ObjectMeta: child("scorecard-abc-0")}
	pod.Labels[dbv1.LabelComponent] = dbv1.ComponentDatabase
	hook := &corev1.Pod{ObjectMeta: child("scorecard-abc-hook")}
	hook.Labels[dbv1.LabelComponent] = dbv1.ComponentHook
	for name, test := range map[string]struct {
		policy dbv1.ClusterVolumePolicy
		left   []client.Object
		want   string
	}{
		"nothing, as it should be":     {dbv1.VolumesDelete, nil, ""},
		"volumes, as they should be":   {dbv1.VolumesRetain, []client.Object{claim}, ""},
		"the pod of a hook, which may": {dbv1.VolumesDelete, []client.Object{hook}, ""},
		"a StatefulSet":                {dbv1.VolumesDelete, []client.Object{&appsv1.StatefulSet{ObjectMeta: child("scorecard-abc")}}, "there still is StatefulSet scorecard-abc"},
		"a Service and a ConfigMap":    {dbv1.VolumesDelete, []client.Object{&corev1.Service{ObjectMeta: child("s")}, &corev1.ConfigMap{ObjectMeta: child("c")}}, "Service s, ConfigMap c"},
		"a member":                     {dbv1.VolumesDelete, []client.Object{pod}, "Pod scorecard-abc-0"},
		"a volume instead of none":     {dbv1.VolumesDelete, []client.Object{claim}, `"Delete" left 1 volumes, want 0`},
		"no volume where one is kept":  {dbv1.VolumesRetain, nil, `"Retain" left 0 volumes, want 1`},
	} {
		err := testWorld(t, test.left...).leavesVolumesAlone(soon(t), "scorecard-abc", test.policy, 1)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
}

func TestCleaningRemovesOnlyObjectsOfThisRun(t *testing.T) {
	foreign := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-orders-0", Labels: of("orders")}}
	orders := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	w := testWorld(t, foreign, orders, &corev1.PersistentVolumeClaim{ObjectMeta: child("data-scorecard-abc-0")})
	if err := w.surroundings(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{
		&dbv1.DatabaseCluster{ObjectMeta: w.object(w.name)}, &dbv1.DatabaseCluster{ObjectMeta: w.object(w.again())}, &dbv1.DatabaseBackup{ObjectMeta: w.object(w.name)},
	} {
		if err := w.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, list := range []client.ObjectList{&dbv1.DatabaseClusterList{}, &dbv1.DatabaseBackupList{}, &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}} {
		if err := w.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			left = append(left, called(o.(client.Object)))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"DatabaseCluster orders", "PersistentVolumeClaim data-orders-0"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

func TestAMissingRightHasAHint(t *testing.T) {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "scorecard-abc", nil)
	if text := advice(err); !strings.Contains(text, "config/scorecard/rbac") || !strings.Contains(text, "secrets") {
		t.Errorf("the advice is %q", text)
	}
	if text := advice(&meta.NoKindMatchError{}); !strings.Contains(text, "install the operator first") {
		t.Errorf("the advice is %q", text)
	}
}

// The scorecard must also check a new type of condition, or have a reason not to.
func TestEveryTypeOfConditionsIsLookedAt(t *testing.T) {
	known := slices.Concat(always, askedFor, ofABackup)
	for _, step := range steps {
		known = append(known, step.becomes)
	}
	known = append(known, dbv1.ConditionDeletionBlocked, dbv1.ConditionVerified)
	known = append(known,
		dbv1.ConditionUpdateAvailable,      // needs a newer operator
		dbv1.ConditionStorageResizing,      // needs a StorageClass whose volumes can grow
		dbv1.ConditionDiskPressure,         // needs kubelets with certificates of the cluster's CA
		dbv1.ConditionAutoResizeActive,     // needs a VerticalPodAutoscaler, whose kind is not in every API server
		dbv1.ConditionTLSReady,             // needs an engine that serves TLS, and the sample has none of its own
		dbv1.ConditionMonitoringConfigured, // needs an engine with metrics, and the sample has none of its own
		dbv1.ConditionCredentialsRotated,   // needs an engine that generates credentials, and the sample has none of its own
		dbv1.ConditionSplitBrainSuspected,  // needs an engine with roles, and the sample has none of its own
		dbv1.ConditionEvictionBlocked,      // needs a PodDisruptionBudget of another owner, and the scorecard may create none
		dbv1.ConditionAccepted,             // is of a DatabaseEngine, which is in no namespace; a scorecard may look at one
	)
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(spec.Names[0].Name, "Condition") {
			return true
		}
		found++
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known, value) {
			t.Errorf("the scorecard does not look at condition %s: add it to a list in conditions.go, or here with the reason why not", value)
		}
		return true
	})
	if found < 14 {
		t.Errorf("only %d types were found", found)
	}
}
