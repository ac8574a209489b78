/*
SPDX-License-Identifier: Apache-2.0
*/

package why_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

var (
	waiting = is("Ready", "False", "ObjectPending", "DatabaseCluster orders does not accept writes")
	asleep  = []metav1.Condition{is("Ready", "True", "Hibernated", "no member runs"), is("Available", "False", "Hibernated", "no member runs"), is("Hibernated", "True", "Hibernated", "no member runs")}
)

// The state of a cluster explains an object that only waits for it, and an object with a problem of its own comes first.
func TestWhatADatabaseWaitsForIsTheCause(t *testing.T) {
	withObjects := func(o dbv1.ClusterObjectsStatus) *dbv1.DatabaseCluster {
		cluster := clusterWith(ready)
		cluster.Status.Objects = &o
		return cluster
	}
	failed := is("Ready", "False", "ObjectFailed", "the last run of the action objects failed: exit code 1")
	for name, c := range map[string]struct {
		cluster *dbv1.DatabaseCluster
		objects []why.Object
		text    string
		command string
	}{
		"a hibernated cluster": {clusterWith(asleep...), []why.Object{databaseWith(waiting), userWith(waiting)},
			"Database invoices waits for DatabaseCluster orders: Hibernated is True (Hibernated): no member runs", "kubectl dbc -n shop wake orders"},
		"a Job that failed": {withObjects(dbv1.ClusterObjectsStatus{Message: "exit code 1"}), []why.Object{userWith(failed)},
			"DatabaseUser billing waits for DatabaseCluster orders: the last Job for databases and users failed: exit code 1", "instance=orders,app.kubernetes.io/component=objects"},
		"a Job that cannot start": {withObjects(dbv1.ClusterObjectsStatus{Waiting: "Job orders-objects-1: image pull failed"}), []why.Object{userWith(waiting)},
			"no Job puts databases and users in force: Job orders-objects-1: image pull failed", "component=objects"},
		"a cluster that is down": {clusterWith(notReady, down), []why.Object{userWith(waiting)}, "DatabaseUser billing waits for DatabaseCluster orders: Available is False (NoPrimary)", "describe pod"},
		"a Job that runs":        {clusterWith(ready), []why.Object{userWith(waiting)}, "DatabaseUser billing: Ready is False (ObjectPending)", "status orders"},
		"a problem of its own after one that waits": {clusterWith(asleep...), []why.Object{databaseWith(waiting), userWith(is("Stalled", "True", "PasswordMissing", "no Secret"))},
			"DatabaseUser billing: Stalled is True (PasswordMissing)", "describe databaseuser billing"},
		"a failure of its own": {clusterWith(ready), []why.Object{userWith(is("Ready", "False", "ObjectFailed", "disk full"))}, "DatabaseUser billing: Ready is False (ObjectFailed): disk full", "component=objects"},
	} {
		t.Run(name, func(t *testing.T) {
			cause, found := why.Together(c.cluster, c.objects)
			if !found || !strings.Contains(cause.Sentence(), c.text) || !strings.Contains(cause.Command, c.command) {
				t.Errorf("got %q, %q", cause.Sentence(), cause.Command)
			}
		})
	}
	if cause, found := why.Together(clusterWith(asleep...), []why.Object{userWith(is("Ready", "True", "InDatabase", ""))}); found {
		t.Errorf("nothing waits, and the cause is %q", cause.Sentence())
	}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func wrote(subresource string, ago time.Duration) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Subresource: subresource, Time: new(metav1.NewTime(noon.Add(-ago)))}
}

func leaseOf(ago time.Duration) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: why.LeaseName}}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(noon.Add(-ago)))
	return lease
}

func TestAnOperatorThatDoesNotRunIsTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		lease  *coordinationv1.Lease
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"an old Lease":                            {leaseOf(3 * time.Hour), []metav1.ManagedFieldsEntry{wrote("status", 4*time.Hour), wrote("", time.Minute)}, true},
		"a Lease of now":                          {leaseOf(time.Second), nil, false},
		"an unreadable Lease":                     {nil, nil, false},
		"a Lease without a time":                  {&coordinationv1.Lease{}, nil, false},
		"an operator that has another Lease":      {leaseOf(3 * time.Hour), []metav1.ManagedFieldsEntry{wrote("status", time.Hour)}, false},
		"the last status, just after the renewal": {leaseOf(3 * time.Hour), []metav1.ManagedFieldsEntry{wrote("status", 3*time.Hour-time.Second)}, true},
	} {
		cause, found := why.Absent(c.lease, c.fields, why.Cause{Condition: ready}, noon)
		if found != c.want {
			t.Errorf("%s: got %q", name, cause.Sentence())
		}
		want := "Lease databasecluster-operator in namespace system was last renewed at 2026-01-01T09:00:00Z, 3h ago. The last known state: Ready is True (Ready)"
		if found && (!strings.Contains(cause.Sentence(), want) || cause.Command != "kubectl -n system get pods") {
			t.Errorf("%s: got %q, %q", name, cause.Sentence(), cause.Command)
		}
	}
}

// A status that does not show the spec is normal for some time, also while the operator runs.
func TestAnUnobservedChangeIsBlamedOnTheOperatorOnlyIfNothingOfItIsRecent(t *testing.T) {
	absent := "so the operator does not run, or does not watch namespace shop"
	for name, c := range map[string]struct {
		lease  *coordinationv1.Lease
		fields []metav1.ManagedFieldsEntry
		want   string
	}{
		"nothing is recent":           {nil, nil, "The last change is 60m old, " + absent},
		"an old status and Lease":     {leaseOf(time.Hour), []metav1.ManagedFieldsEntry{wrote("status", 30*time.Minute)}, absent},
		"a status of a minute ago":    {nil, []metav1.ManagedFieldsEntry{wrote("", time.Hour), wrote("status", time.Minute)}, "The last change is 60m old. The operator last wrote the status 60s ago."},
		"a Lease of a second ago":     {leaseOf(time.Second), nil, "The operator runs, because its Lease was renewed 1s ago. Does it watch namespace shop?"},
		"a change of two seconds ago": {nil, []metav1.ManagedFieldsEntry{wrote("", 2*time.Second), wrote("", time.Hour)}, "The last change is 2s old: kubectl dbc -n shop status orders --watch shows the progress"},
	} {
		cluster := clusterWith(ready)
		cluster.CreationTimestamp, cluster.Generation, cluster.ManagedFields = metav1.NewTime(noon.Add(-time.Hour)), 4, c.fields
		_, cause := why.Explain(cluster)
		got := why.Overdue(cause, cluster, c.lease, noon)
		if !strings.Contains(got.Message, c.want) || strings.Contains(got.Message, "does not run") != strings.Contains(c.want, absent) {
			t.Errorf("%s: got %q", name, got.Message)
		}
		if (got.Page == "") != strings.Contains(name, "seconds") {
			t.Errorf("%s: got %q", name, got.Page)
		}
	}
}
