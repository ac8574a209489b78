/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// request is a change of a converged cluster.
type request func(*dbv1.DatabaseCluster, *state.Observed)

// after is the status after a pass for a converged cluster of three members with one database, and these changes.
func after(t *testing.T, changes ...request) dbv1.DatabaseClusterStatus {
	t.Helper()
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	for _, change := range changes {
		change(cluster, &observed)
	}
	s := situation.Of(cluster, observed)
	p := plan.For(s)
	for _, o := range p.Operations {
		if record, is := o.(operation.Record); is {
			p.Recorded = append(p.Recorded, record)
		}
	}
	return Of(PassResult{Situation: s, Plan: p}, now)
}

// rows are the requests of a status as text.
func rows(status dbv1.DatabaseClusterStatus) string {
	var texts []string
	for _, r := range status.Requests {
		text := fmt.Sprintf("%s %s %s", r.Type, r.Request, r.State)
		if r.Message != "" {
			text += ": " + r.Message
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

func asks(key, value string) request {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, value)
	}
}

func of(change func(*dbv1.DatabaseCluster)) request {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) { change(c) }
}

func seen(change func(*state.Observed)) request {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) { change(o) }
}

func hasRow(row dbv1.ClusterRequestStatus) request {
	return of(func(c *dbv1.DatabaseCluster) { c.Status.Requests = append(c.Status.Requests, row) })
}

// rendered is a template that has the request of a restart.
func rendered(value string) request {
	return seen(func(o *state.Observed) {
		metav1.SetMetaDataAnnotation(&o.StatefulSet.Spec.Template.ObjectMeta, dbv1.AnnotationRestart, value)
	})
}

// generates is a cluster whose passwords the operator generates. The last rotation had this request.
func generates(last string) request {
	return seen(func(o *state.Observed) {
		o.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
		o.Credentials = state.Credentials{Name: "orders-credentials", UID: "s", Generated: true, Cluster: plans.UID, Since: plans.Now,
			Values: state.Values{"password": []byte("current")}, Request: last}
	})
}

var (
	paused     = of(func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true })
	hibernated = of(func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	deleted    = of(func(c *dbv1.DatabaseCluster) { c.DeletionTimestamp = &then })
	restart    = asks(dbv1.AnnotationRestart, "now")
	rotate     = asks(dbv1.AnnotationRotateCredentials, "now")
	outdated   = seen(func(o *state.Observed) { plans.Outdated(o, 0) })
)

const (
	precedes    = "another step precedes it: see the conditions Progressing and Stalled"
	hasPods     = "the cluster has the pods orders-0 to orders-2. Correct the annotation, or add text after a slash to request it again"
	isOld       = "the cluster had this annotation before its first status, so the request may be an old one. To request it now, add text after a slash"
	allStarted  = "all members have started since the request"
	isCompleted = "Restart now Completed: " + allStarted
)

func TestEachRequestHasARowWithWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		changes []request
		want    string
	}{
		"no request":                   {nil, ""},
		"an empty annotation":          {[]request{asks(dbv1.AnnotationRestart, "")}, ""},
		"a restart":                    {[]request{restart}, "Restart now Accepted"},
		"one that runs":                {[]request{restart, rendered("now"), outdated}, "Restart now Accepted"},
		"one that has ended":           {[]request{restart, rendered("now")}, isCompleted},
		"a member is not ready yet":    {[]request{restart, rendered("now"), seen(func(o *state.Observed) { o.Members[2].Ready = false })}, "Restart now Accepted"},
		"the template is not observed": {[]request{restart, rendered("now"), seen(func(o *state.Observed) { o.StatefulSet.Generation++ })}, "Restart now Accepted"},
		"one of a paused cluster":      {[]request{restart, paused}, "Restart now Pending: spec.paused is true"},
		"one of a hibernated cluster":  {[]request{restart, hibernated}, "Restart now Pending: spec.hibernated is true"},
		"one that the user executes": {
			[]request{restart, of(func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete })},
			"Restart now Pending: spec.updateStrategy.type is OnDelete: delete the pods to restart them",
		},
		"one whose rollout is paused": {
			[]request{restart, of(func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = true })},
			"Restart now Pending: spec.updateStrategy.paused is true",
		},
		"one that has ended before another rollout": {
			[]request{restart, rendered("now"), outdated, hasRow(dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, Request: "now", State: dbv1.RequestCompleted})},
			"Restart now Completed",
		},
		"the next one": {
			[]request{restart, rendered("before"), hasRow(dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, Request: "before", State: dbv1.RequestCompleted})},
			"Restart now Accepted",
		},
		"one without its annotation": {
			[]request{hasRow(dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, Request: "now", State: dbv1.RequestCompleted})}, "",
		},
		"a refresh":                      {[]request{asks(dbv1.AnnotationRefresh, "now")}, "Refresh now Completed: the Secrets and ConfigMaps of the spec were read"},
		"a refresh without the engine":   {[]request{asks(dbv1.AnnotationRefresh, "now"), seen(func(o *state.Observed) { o.Engine = nil })}, "Refresh now Pending: " + precedes},
		"a rotation":                     {[]request{rotate, generates("")}, "RotateCredentials now Accepted"},
		"a rotation that has ended":      {[]request{rotate, generates("now")}, "RotateCredentials now Completed: clients have the new passwords"},
		"a rotation of a paused cluster": {[]request{rotate, generates(""), paused}, "RotateCredentials now Pending: spec.paused is true"},
		"a rotation beside a DatabaseRestore": {
			[]request{rotate, generates(""), seen(func(o *state.Observed) {
				o.Replacement = &state.Replacement{Restore: dbv1.ReplacementRestoreRef{Name: "yesterday"}}
			})},
			"RotateCredentials now Pending: DatabaseRestore yesterday exists, and the volumes that it retains have the present passwords. Delete it first",
		},
		"a rotation of a Secret of the user": {
			[]request{rotate, of(func(c *dbv1.DatabaseCluster) { c.Spec.Credentials.SecretName = "mine" })},
			"RotateCredentials now Refused: Secret mine in spec.credentials.secretName is yours, and the operator does not change it. Change its passwords yourself",
		},
		"a rotation of nothing": {
			[]request{rotate}, "RotateCredentials now Refused: the operator generates no passwords for this cluster, because no DatabaseEngine declares any. Change them in the database yourself",
		},
		"a hand-over":                            {[]request{asks(dbv1.AnnotationHandOver, "orders-2")}, "HandOver orders-2 Accepted"},
		"a hand-over of a paused cluster":        {[]request{asks(dbv1.AnnotationHandOver, "orders-2"), paused}, "HandOver orders-2 Pending: spec.paused is true"},
		"a hand-over of a hibernated cluster":    {[]request{asks(dbv1.AnnotationHandOver, "orders-2"), hibernated}, "HandOver orders-2 Pending: spec.hibernated is true"},
		"a hand-over during a rollout":           {[]request{asks(dbv1.AnnotationHandOver, "orders-2"), outdated}, "HandOver orders-2 Pending: " + precedes},
		"a hand-over to no member":               {[]request{asks(dbv1.AnnotationHandOver, "orders-3")}, "HandOver orders-3 Refused: " + hasPods},
		"a hand-over to no member, while paused": {[]request{asks(dbv1.AnnotationHandOver, "orders-3"), paused}, "HandOver orders-3 Refused: " + hasPods},
		"a hand-over without the engine":         {[]request{asks(dbv1.AnnotationHandOver, "orders-3"), seen(func(o *state.Observed) { o.Engine = nil })}, "HandOver orders-3 Pending: " + precedes},
		"two that cannot be executed": {
			[]request{asks(dbv1.AnnotationHandOver, "orders-3"), asks(dbv1.AnnotationRebuild, "orders-9")},
			"HandOver orders-3 Refused: " + hasPods + "\nRebuild orders-9 Refused: " + hasPods,
		},
		"one that cannot be executed beside one that can": {
			[]request{asks(dbv1.AnnotationHandOver, "orders-3"), asks(dbv1.AnnotationRebuild, "orders-2"), asks(dbv1.AnnotationRefresh, "now")},
			"HandOver orders-3 Refused: " + hasPods + "\nRebuild orders-2 Accepted\nRefresh now Completed: the Secrets and ConfigMaps of the spec were read",
		},
		"a cluster that is created again from its manifest": {
			[]request{asks(dbv1.AnnotationHandOver, "orders-2"), restart, rendered("now"), of(func(c *dbv1.DatabaseCluster) { c.Status.Conditions = nil })},
			"HandOver orders-2 Refused: " + isOld + "\n" + isCompleted,
		},
		"a new request of a cluster that is being deleted": {[]request{restart, deleted}, "Restart now Refused: the cluster is being deleted"},
		"one that ran before the deletion": {
			[]request{restart, deleted, hasRow(dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, Request: "now", State: dbv1.RequestAccepted})},
			"Restart now Accepted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rows(after(t, c.changes...)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestARequestThatCannotBeExecutedLeavesAHealthyClusterReady(t *testing.T) {
	for _, key := range []string{dbv1.AnnotationHandOver, dbv1.AnnotationRebuild, dbv1.AnnotationRotateCredentials} {
		status := after(t, asks(key, "orders-3"))
		if rows := rows(status); !strings.Contains(rows, " Refused: ") {
			t.Errorf("%s: %s", key, rows)
		}
		for kind, want := range map[string]bool{dbv1.ConditionReady: true, dbv1.ConditionStalled: false, dbv1.ConditionProgressing: false} {
			if meta.IsStatusConditionTrue(status.Conditions, kind) != want {
				t.Errorf("%s: %s", key, summary(status))
			}
		}
	}
}

func TestARecordStaysUntilTheNextRequestHasOne(t *testing.T) {
	before := dbv1.ClusterRequestStatus{Type: dbv1.RequestRebuild, Request: "orders-1", State: dbv1.RequestCompleted, Message: "pod orders-1 has a new PersistentVolumeClaim", ClaimUID: "c"}
	waits := after(t, hasRow(before), asks(dbv1.AnnotationRebuild, "orders-2"), paused)
	want := "Rebuild orders-1 Completed: pod orders-1 has a new PersistentVolumeClaim. Next request: \"orders-2\" waits: spec.paused is true"
	if got := rows(waits); got != want || waits.Requests[0].ClaimUID != "c" {
		t.Errorf("while the next one waits: %s, want %s", got, want)
	}
	back := after(t, hasRow(waits.Requests[0]), asks(dbv1.AnnotationRebuild, "orders-1"))
	if got, want := rows(back), "Rebuild orders-1 Completed: "+before.Message; got != want {
		t.Errorf("after the next one was taken back: %s, want %s", got, want)
	}
	accepted := after(t, hasRow(waits.Requests[0]), asks(dbv1.AnnotationRebuild, "orders-2"))
	if got, want := rows(accepted), "Rebuild orders-2 Accepted"; got != want {
		t.Errorf("after the next one was accepted: %s, want %s", got, want)
	}
}

func TestTheTimeOfARequestIsThatOfItsState(t *testing.T) {
	row := dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, Request: "now", State: dbv1.RequestAccepted, Time: &then}
	if status := after(t, restart, hasRow(row)); !status.Requests[0].Time.Equal(&then) {
		t.Errorf("the same state: %v, want %v", status.Requests[0].Time, then)
	}
	if status := after(t, restart, rendered("now"), hasRow(row)); !status.Requests[0].Time.Equal(&now) {
		t.Errorf("another state: %v, want %v", status.Requests[0].Time, now)
	}
}

func TestALongRequestIsRecordedAsAHash(t *testing.T) {
	long := strings.Repeat("x", 300)
	status := after(t, asks(dbv1.AnnotationRestart, long), rendered(long), asks(dbv1.AnnotationHandOver, long))
	for _, r := range status.Requests {
		if len(r.Request) > 253 || len(r.Message) > maxRequestMessage || r.Request == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(status.Requests) != 2 || status.Requests[1].State != dbv1.RequestCompleted {
		t.Errorf("%s", rows(status))
	}
}

func TestOnlyRecordsOfRequestsStartAPass(t *testing.T) {
	for name, c := range map[string]struct {
		row       dbv1.ClusterRequestStatus
		ignorable bool
	}{
		"a refresh":          {dbv1.ClusterRequestStatus{Type: dbv1.RequestRefresh, State: dbv1.RequestCompleted}, true},
		"a restart":          {dbv1.ClusterRequestStatus{Type: dbv1.RequestRestart, State: dbv1.RequestAccepted}, true},
		"a refused rotation": {dbv1.ClusterRequestStatus{Type: dbv1.RequestRotateCredentials, State: dbv1.RequestRefused}, false},
		"one that waits":     {dbv1.ClusterRequestStatus{Type: dbv1.RequestHandOver, State: dbv1.RequestPending}, true},
		"a hand-over":        {dbv1.ClusterRequestStatus{Type: dbv1.RequestHandOver, State: dbv1.RequestAccepted}, false},
	} {
		before, after := &dbv1.DatabaseClusterStatus{}, &dbv1.DatabaseClusterStatus{Requests: []dbv1.ClusterRequestStatus{c.row}}
		if got := Ignorable(before, after); got != c.ignorable {
			t.Errorf("%s: ignorable %v, want %v", name, got, c.ignorable)
		}
	}
}
