/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// ledger is an engine that creates the first data by a Job, and a cluster of it.
func ledger(edits ...func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine)) (*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1"}}
	declared.Spec.Topology = dbv1.TopologyConsensus
	declared.Spec.Actions.Initialize = &dbv1.EngineAction{Command: []string{"initialize"}}
	declared.Spec.Actions.MemberRemove = &dbv1.EngineAction{Command: []string{"remove"}}
	declared.Spec.Container.ReadinessProbe = &corev1.Probe{}
	c := orders()
	c.Spec.Engine = declared.Name
	c.Spec.Deletion.HookFailurePolicy, c.Spec.Service.Type = dbv1.HookFailureBlock, corev1.ServiceTypeClusterIP
	for _, edit := range edits {
		edit(c, declared)
	}
	return c, declared
}

// store is an API server with the CRDs.
func store(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	known := clientgoscheme.Scheme
	if err := dbv1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	builder := fakeclient.For(known).WithStatusSubresource(&dbv1.DatabaseCluster{}).WithObjects(objects...)
	return interceptor.NewClient(builder.Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(types.UID("uid of " + object.GetName())) // as an API server does
			return c.Create(ctx, object, options...)
		},
	})
}

// operate runs passes of an operator with its own image, and in a cluster with its own domain.
func operate(t *testing.T, s client.Client) {
	t.Helper()
	for range 6 {
		r := &controller.Reconciler{ClusterDomain: "corp.example", TransferImage: "registry.test/operator:7", Base: kit.Base{
			Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s}, Events: events.NewFakeRecorder(100), Clock: clock.RealClock{},
		}}
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "orders"}}); err != nil {
			t.Fatal(err)
		}
	}
}

// now is the preview of the next pass for the stored cluster.
func now(t *testing.T, s client.Client) Preview {
	t.Helper()
	cluster := &dbv1.DatabaseCluster{}
	if err := s.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "orders"}, cluster); err != nil {
		t.Fatal(err)
	}
	p, err := OfNow(t.Context(), s, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func textsOf(p Preview) string {
	all := slices.Clone(p.Sentences)
	for _, d := range p.Differences {
		all = append(all, d.Kind+" "+d.Name)
	}
	return strings.Join(all, "\n")
}

// The plugin does not know the image of the operator, which has it. A Job of that image is not created again.
func TestTheFlagOfTheOperatorIsNotMissingWhileAClusterStarts(t *testing.T) {
	cluster, declared := ledger()
	s := store(t, cluster, declared)
	if got := textsOf(now(t, s)); strings.Contains(got, "transfer-image") {
		t.Errorf("before the first pass:\n%s", got)
	}
	operate(t, s)
	jobs := &batchv1.JobList{}
	if err := s.List(t.Context(), jobs); err != nil || len(jobs.Items) != 1 {
		t.Fatalf("there are %d Jobs, %v", len(jobs.Items), err)
	}
	p := now(t, s)
	if got := textsOf(p); strings.Contains(got, "transfer-image") || strings.Contains(got, "configuration has changed") || !strings.Contains(got, "in the step Initializing") {
		t.Errorf("while the Job runs:\n%s", got)
	}
	if !p.Changed() {
		t.Error("a step of the operator is no change")
	}
	other, err := pass(t.Context(), s, cluster, someImage, usualDomain)
	if err != nil {
		t.Fatal(err)
	}
	if got := textsOf(Pending(other)); !strings.Contains(got, "configuration has changed") {
		t.Errorf("with another image, nothing is created again:\n%s", got)
	}
}

// The names of a certificate have the domain of the operator, which is not always cluster.local.
func TestTheDomainIsThatOfTheCertificate(t *testing.T) {
	cluster, declared := ledger(func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
		e.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
		c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	})
	s := store(t, cluster, declared)
	operate(t, s)
	observed, err := observe(t.Context(), s, cluster)
	if err != nil || domainOf(observed) != "corp.example" {
		t.Errorf("got %q, %v", domainOf(observed), err)
	}
	if got := textsOf(now(t, s)); strings.Contains(got, "DNS names have changed") {
		t.Errorf("got\n%s", got)
	}
}

// An account that the operator repairs is compared with the live one, and does not look like a new one.
func TestAChangedServiceAccountIsComparedWithTheLiveOne(t *testing.T) {
	cluster, declared := ledger(func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) {
		c.Spec.ServiceAccount.Annotations = map[string]string{"example.test/role": "reader"}
	})
	s := store(t, cluster, declared)
	operate(t, s)
	account := &corev1.ServiceAccount{}
	if err := s.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "orders"}, account); err != nil {
		t.Fatal(err)
	}
	account.Annotations["example.test/role"] = "writer"
	if err := s.Update(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	p := now(t, s)
	i := slices.IndexFunc(p.Differences, func(d Difference) bool { return d.Kind == "ServiceAccount" })
	if i < 0 || !strings.Contains(p.Differences[i].Before, "writer") || !strings.Contains(p.Differences[i].After, "reader") {
		t.Errorf("got %+v", p.Differences)
	}
}

// The CRDs of an older operator lack kinds of this version. That is not so for a kind of cert-manager.
func TestAKindThatTheAPIServerDoesNotHaveHasNoObjects(t *testing.T) {
	cluster, declared := ledger()
	missing := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: dbv1.GroupVersion.Group, Kind: "DatabaseUser"}}
	without := func(lists ...client.ObjectList) client.WithWatch {
		return interceptor.NewClient(store(t, cluster, declared), interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if slices.ContainsFunc(lists, func(l client.ObjectList) bool { return fmt.Sprintf("%T", l) == fmt.Sprintf("%T", list) }) {
					return missing
				}
				return c.List(ctx, list, options...)
			},
		})
	}
	if got := textsOf(now(t, without(&dbv1.DatabaseRestoreList{}, &dbv1.DatabaseList{}, &dbv1.DatabaseUserList{}))); !strings.Contains(got, "Service orders") {
		t.Errorf("got\n%s", got)
	}
	if _, err := OfNow(t.Context(), without(&corev1.ConfigMapList{}), cluster); !meta.IsNoMatchError(err) {
		t.Errorf("of another group: %v", err)
	}
}

// The operator may read a Certificate that the user may not read, so the cluster is not Stalled.
func TestARightThatTheUserLacksIsAnErrorOfDiff(t *testing.T) {
	cluster, declared := ledger(func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
		e.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
		c.Spec.TLS = &dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "ca"}}
	})
	s := interceptor.NewClient(store(t, cluster, declared), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if kind := object.GetObjectKind().GroupVersionKind(); kind.Group == "cert-manager.io" {
				return apierrors.NewForbidden(schema.GroupResource{Group: kind.Group, Resource: "certificates"}, key.Name, nil)
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	p, err := OfNow(t.Context(), s, cluster)
	if err == nil || !strings.Contains(err.Error(), "diff needs to read what the operator reads") || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("got %v, %q", err, p.Sentences)
	}
}

func TestTheImageIsThatOfTheArchiveAndElseOfTheNewestJob(t *testing.T) {
	of := func(image string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "other", Image: "other:1"}, {Name: "transfer", Image: image}}}}
	}
	job := func(name, image string, minute int) batchv1.Job {
		return batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}, Spec: batchv1.JobSpec{Template: of(image)}}
	}
	sorted := newestFirst([]batchv1.Job{job("old", "operator:1", 1), job("new", "operator:2", 2)})
	if got := transferImage([]corev1.PodTemplateSpec{{}, sorted[0].Spec.Template, sorted[1].Spec.Template}); got != "operator:2" {
		t.Errorf("got %s", got)
	}
	if got := transferImage(nil); got != someImage {
		t.Errorf("got %s", got)
	}
}
