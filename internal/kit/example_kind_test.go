/*
SPDX-License-Identifier: Apache-2.0
*/

package kit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// A greeting runs one Job. The API type is borrowed from backups: a real kind has its own, and a line in kinds.All.
type (
	greeting     = dbv1.DatabaseBackup
	greeter      struct{ kit.Base }
	greetingPass = kit.Pass[*greeting, greetingFacts, operation.Agenda]
	// greetingFacts are what a pass reads. An object that does not exist has no name.
	greetingFacts struct {
		cluster dbv1.DatabaseCluster
		job     jobs.Job
	}
)

var _ kit.Executor[*greeting, greetingFacts, operation.Agenda] = &greeter{}

func (g *greeter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &g.Base, g, request.NamespacedName)
}

func (g *greeter) Controller() kit.Controller {
	return kit.Controller{
		Name: "greeting", For: &greeting{}, When: kit.Changed(func(o *greeting) any { return o.Spec }),
		Watches: []kit.Watch{{Object: &batchv1.Job{}, When: kit.Changed(func(o *batchv1.Job) any { return jobs.Of(o, nil).Facts() })}},
	}
}

func (g *greeter) Observe(ctx context.Context, o *greeting, from kit.Reading) (greetingFacts, error) {
	facts, job := greetingFacts{}, &batchv1.Job{}
	from.Find(ctx, o.Spec.Cluster, &facts.cluster)
	if from.Find(ctx, o.Name, job) {
		facts.job = jobs.Of(job, nil)
	}
	return facts, from.Err
}

// Decide is a pure function; in a real kind, of a pure package.
func (g *greeter) Decide(o *greeting, facts greetingFacts) operation.Agenda {
	switch {
	case facts.job.Succeeded || meta.IsStatusConditionTrue(o.Status.Conditions, "Done"): // the result stays when the Job expires
		return operation.Agenda{Why: "greeted"}
	case facts.job.Name != "":
		return operation.Agenda{Why: "greeting"}
	case facts.cluster.Name == "":
		return operation.Agenda{Why: "waiting for its cluster"}
	}
	owner := metav1.NewControllerRef(o, dbv1.GroupVersion.WithKind("DatabaseBackup"))
	job := jobs.Build(&facts.cluster, jobs.Spec{
		Name: o.Name, Kind: jobs.ActionKind{Component: "greeting", Retries: 3, Deadline: jobs.Within(time.Hour), Connects: true}, Command: []string{"greet"}, Owner: objects.As[metav1ac.OwnerReferenceApplyConfiguration](owner),
	})
	return operation.Agenda{Operations: operation.List{operation.Create{
		Work: operation.Work{Is: operation.Last, Text: "create " + job.String(), Event: operation.Normal("JobStarted", "CreateJob", "")}, Objects: []objects.Child{job},
	}}, Why: "creating the Job"}
}

func (g *greeter) Execute(ctx context.Context, p *greetingPass, o operation.Operation) ([]kit.Event, error) {
	return execute.Hands{Base: g.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

func (g *greeter) Report(p greetingPass) (*greeting, []kit.Event) {
	after, done := p.Object.DeepCopy(), metav1.Condition{Type: "Done", Status: metav1.ConditionFalse, Reason: "Greeting", Message: p.Plan.Why}
	if done.ObservedGeneration, done.LastTransitionTime = p.Object.Generation, metav1.NewTime(g.Clock.Now()); p.Err != nil {
		done.Reason, done.Message = "Failed", p.Err.Error()
	} else if p.Plan.Why == "greeted" {
		done.Status, done.Reason = metav1.ConditionTrue, "Greeted"
	}
	meta.SetStatusCondition(&after.Status.Conditions, done)
	return after, nil
}

func TestAKindWithOneJobRunsItAndReports(t *testing.T) {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme))
	named, job := metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "1"}, &batchv1.Job{}
	key, seen := client.ObjectKey{Namespace: "shop", Name: "orders"}, &greeting{ObjectMeta: named, Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	s := fakeclient.For(scheme).WithObjects(seen, &dbv1.DatabaseCluster{ObjectMeta: named}).WithStatusSubresource(seen, job).Build()
	var g kit.Reconciler = &greeter{kit.Base{Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s}, Events: &events.FakeRecorder{}, Clock: clock.RealClock{}}}
	for pass, want := range []string{"creating the Job", "greeting", "greeted", "greeted"} {
		_, failed := g.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		err, expired := errors.Join(err, failed, s.Get(t.Context(), key, seen)), s.Get(t.Context(), key, job)
		if err != nil || (expired != nil) != (pass == 3) {
			t.Fatalf("pass %d: %v, the Job: %v", pass, err, expired)
		}
		if done := seen.Status.Conditions[0]; done.Message != want || !metav1.IsControlledBy(job, seen) {
			t.Errorf("pass %d reports %+v, want %q; owners of the Job: %v", pass, done, want, job.OwnerReferences)
		}
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
		if pass == 1 && s.Status().Update(t.Context(), job) != nil || pass == 2 && s.Delete(t.Context(), job) != nil {
			t.Fatal("the Job cannot succeed or expire")
		}
	}
}
