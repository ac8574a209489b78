/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plans provides shared fixtures for tests of the planner: a cluster, its converged state, and plans as text.
package plans

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/network"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Now is the current time in the tests.
var Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// UID is the UID of the cluster.
const UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

// Orders returns a cluster with three members and its finalizer.
func Orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Namespace, c.Name, c.UID, c.Finalizers = "shop", "orders", UID, []string{dbv1.Finalizer}
	c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = 3, "database:1", resource.MustParse("1Gi")
	c.Spec.Deletion.HookFailurePolicy, c.Spec.Service.Type = dbv1.HookFailureBlock, corev1.ServiceTypeClusterIP
	return engine.Resolve(c, nil)
}

// Standing returns the observed state of a converged cluster.
func Standing(t testing.TB, c *dbv1.DatabaseCluster) state.Observed {
	t.Helper()
	o := state.Observed{
		HeadlessService:     live[corev1.Service](t, resources.HeadlessService(c)),
		Service:             live[corev1.Service](t, resources.Service(c, nil)),
		PodDisruptionBudget: live[policyv1.PodDisruptionBudget](t, resources.PodDisruptionBudget(c)),
		NetworkPolicy:       live[networkingv1.NetworkPolicy](t, network.Render(c)),
		StatefulSet:         live[appsv1.StatefulSet](t, resources.StatefulSet(c, c.Spec.Replicas, state.Observed{})),
	}
	o.At = Now
	o.StatefulSet.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(o.StatefulSet)
	o.StatefulSet.Generation, o.StatefulSet.Status.ObservedGeneration, o.StatefulSet.Status.UpdateRevision = 1, 1, "new"
	for ordinal := range c.Spec.Replicas {
		o.Members = append(o.Members,
			state.Member{Name: fmt.Sprintf("orders-%d", ordinal), Ordinal: ordinal, Revision: "new", Ready: true,
				ReadySince: metav1.NewTime(Now.Add(-time.Hour))})
	}
	return o
}

func live[T any](t testing.TB, child objects.Child) *T {
	t.Helper()
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object.Object, object); err != nil {
		t.Fatal(err)
	}
	if stored, ok := any(object).(metav1.Object); ok {
		stored.SetUID("live")
	}
	return object
}

// Decide returns the plan of one reconciliation. It panics if a plan breaks the rules of its operations, so every test
// checks them.
func Decide(cluster *dbv1.DatabaseCluster, observed state.Observed) plan.Plan {
	p := plan.For(situation.Of(cluster, observed))
	for i, o := range p.Operations {
		switch properties := o.Properties(); {
		case properties.Disruptive && i < len(p.Operations)-1:
			panic(fmt.Sprintf("%s is disruptive but not the last of %v", o, p.Operations))
		case properties.First && !p.Operations[max(0, i-1)].Properties().First:
			panic(fmt.Sprintf("%s must be the first of %v", o, p.Operations))
		case cluster.DeletionTimestamp != nil && !properties.WhileDeleting:
			panic(fmt.Sprintf("%s while the cluster is being deleted", o))
		case cluster.DeletionTimestamp == nil && cluster.Spec.Paused && !properties.WhilePaused:
			panic(fmt.Sprintf("%s while the cluster is paused", o))
		}
	}
	return p
}

// Disrupts reports whether a plan stops, starts or replaces a pod.
func Disrupts(p plan.Plan) bool { return p.Operations.Need(operation.Disruptive) }

// Removals returns the objects that a plan deletes because the operator no longer needs them.
func Removals(p plan.Plan) []operation.Removal {
	var all []operation.Removal
	for _, o := range p.Operations {
		if deletion, is := o.(operation.Delete); is && strings.HasPrefix(deletion.Text, "delete ") {
			all = append(all, deletion.Objects...)
		}
	}
	return all
}

// each returns a line for each object of an operation.
func each(o operation.Operation) []string {
	switch o := o.(type) {
	case operation.Change:
		return changed(o)
	case operation.Finalizer:
		return released(o)
	case operation.Delete:
		return listed(o.Text, o.Objects)
	default:
		return []string{o.String()}
	}
}

// released returns a line for each pod that loses the operator's finalizer.
func released(o operation.Finalizer) []string {
	if !o.Remove || o.Pods == nil {
		return []string{o.Text}
	}
	var texts []string
	for _, pod := range o.Pods {
		texts = append(texts, "release pod "+pod.Name)
	}
	return texts
}

// listed returns a line for each object that a text lists; otherwise the text.
func listed[T fmt.Stringer](text string, all []T) []string {
	lead, lists := strings.CutSuffix(text, operation.Describe(all))
	if !lists {
		return []string{text}
	}
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, lead+one.String())
	}
	return texts
}

// changed returns a line for each object of a change, and the contents that it records on a claim.
func changed(o operation.Change) []string {
	if !strings.HasPrefix(o.Text, recording) {
		return listed(o.Text, o.Patches)
	}
	var texts []string
	for i, c := range Contents(o) {
		text := fmt.Sprintf("record on %s: engine %q, primary %q", o.Patches[i], c.Engine, c.Primary)
		if c.Voters > 0 {
			text += fmt.Sprintf(", voters %d", c.Voters)
		}
		texts = append(texts, text)
	}
	return texts
}

const recording = "record the contents of "

// Find returns the first operation of a type whose text begins with these words.
func Find[T operation.Operation](p plan.Plan, words string) (found T, ok bool) {
	for _, o := range p.Operations {
		if found, ok = o.(T); ok && strings.HasPrefix(o.String(), words) {
			return found, true
		}
	}
	return *new(T), false
}

// Recorded returns the change that records contents on claims of the cluster, and the contents.
func Recorded(p plan.Plan) (operation.Change, []state.Contents) {
	change, _ := Find[operation.Change](p, recording)
	return change, Contents(change)
}

// Contents returns the contents that claims have after a change.
func Contents(o operation.Change) []state.Contents {
	var all []state.Contents
	for _, patch := range o.Patches {
		all = append(all, state.ContentsOf(patch.After))
	}
	return all
}

// Writes reports whether a plan writes objects.
func Writes(p plan.Plan) bool {
	_, found := operation.Find[operation.Apply](p.Operations)
	return found
}

// Text returns a plan as text.
func Text(p plan.Plan) string {
	var all []string
	for _, o := range p.Operations {
		all = append(all, each(o)...)
	}
	all = append(all, p.Reason+": "+p.Message)
	if p.RequeueAfter > 0 {
		all = append(all, "again in "+p.RequeueAfter.String())
	}
	if p.Newer {
		all = append(all, "NEWER")
	}
	if p.Stalled != nil {
		all = append(all, "STALLED "+p.Stalled.Reason)
	}
	return strings.Join(all, "\n") + "\n"
}

// Outdated changes members to an outdated pod template.
func Outdated(o *state.Observed, ordinals ...int) {
	for _, i := range ordinals {
		o.Members[i].Revision = "old"
	}
}

// KeptVolumes returns two retained claims of a previous cluster of the same name.
func KeptVolumes() []state.Volume {
	return []state.Volume{
		{Claim: naming.ClaimIn(naming.DataVolume, "orders", 0), Ordinal: 0, Managed: true, Contents: state.Contents{Cluster: "earlier"}},
		{Claim: naming.ClaimIn(naming.DataVolume, "orders", 1), Ordinal: 1, Managed: true, Contents: state.Contents{Cluster: "earlier"}},
	}
}

// DecideEach modifies a converged cluster of three members and compares the resulting plan.
func DecideEach(t testing.TB, change func(*dbv1.DatabaseCluster, *state.Observed), want string) {
	t.Helper()
	cluster := Orders()
	observed := Standing(t, cluster)
	change(cluster, &observed)
	if got := Text(Decide(cluster, observed)); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// Down makes members fail for a minute already.
func Down(o *state.Observed, problem string, ordinals ...int) {
	for _, i := range ordinals {
		o.Members[i].Ready, o.Members[i].ReadySince, o.Members[i].Problem = false, Ago(time.Minute), problem
	}
}

// Ago returns a time before the reconciliation.
func Ago(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }
