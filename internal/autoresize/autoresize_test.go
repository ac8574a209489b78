/*
SPDX-License-Identifier: Apache-2.0
*/

package autoresize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/autoresize"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// fixture is a cluster of three members with requests of 500m and 1Gi, and bounds around them.
type fixture struct {
	cluster  *dbv1.DatabaseCluster
	observed state.Observed
	facts    autoresize.Facts
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func amounts(cpu, memory string) dbv1.ClusterResizeAmounts {
	c, m := resource.MustParse(cpu), resource.MustParse(memory)
	return dbv1.ClusterResizeAmounts{CPU: &c, Memory: &m}
}

func bounds(least, most string) *dbv1.ClusterResizeBounds {
	return &dbv1.ClusterResizeBounds{Min: resource.MustParse(least), Max: resource.MustParse(most)}
}

// newFixture is a cluster whose members have the resources that its status and its spec ask for after the change.
func newFixture(t *testing.T, before func(*fixture)) *fixture {
	t.Helper()
	f := &fixture{cluster: plans.Orders()}
	f.cluster.Spec.Resources.Requests = list("500m", "1Gi")
	f.cluster.Spec.AutoResize = &dbv1.ClusterAutoResize{
		AutoscalerRef: dbv1.ClusterAutoscalerRef{Name: "orders"}, CPU: bounds("250m", "2"), Memory: bounds("512Mi", "4Gi"),
	}
	f.facts.Target = amounts("500m", "1Gi")
	if before != nil {
		before(f)
	}
	inForce := f.cluster.DeepCopy()
	inForce.Spec.Resources = situation.Requested(f.cluster)
	f.observed = plans.Standing(t, inForce)
	for i := range f.observed.Members {
		f.observed.Members[i].Resources = fmt.Sprintf("requests cpu=%dm,memory=%dm limits ",
			inForce.Spec.Resources.Requests.Cpu().MilliValue(), inForce.Spec.Resources.Requests.Memory().MilliValue())
	}
	return f
}

// decidedBefore is a decision that was recorded some time ago, and is in force.
func decidedBefore(cpu, memory string, since time.Duration) func(*fixture) {
	return func(f *fixture) {
		f.cluster.Status.AutoResize = &dbv1.ClusterAutoResizeStatus{
			Requests: amounts(cpu, memory), Time: plans.Ago(since), Cause: dbv1.ResizeCauseRecommendation,
		}
	}
}

// pass returns the condition and the decision that the status has after a pass.
func (f *fixture) pass() (d subject.Decision, condition, decision string) {
	state.Put(&f.observed, f.facts)
	d = autoresize.Subject.Decide(situation.Of(f.cluster, f.observed))
	status := f.cluster.Status.DeepCopy()
	if d.Report != nil {
		for _, c := range d.Report(subject.Executed{}, status) {
			meta.SetStatusCondition(&status.Conditions, c)
		}
	}
	if c := meta.FindStatusCondition(status.Conditions, dbv1.ConditionAutoResizeActive); c != nil {
		condition = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	if r := status.AutoResize; r != nil {
		for _, one := range []*resource.Quantity{r.Requests.CPU, r.Requests.Memory} {
			if one != nil {
				decision += one.String() + " "
			}
		}
		if r.Time.Time.Equal(plans.Now) || r.Cause == dbv1.ResizeCauseBounds {
			decision += string(r.Cause)
		}
	}
	return d, condition, strings.TrimSpace(decision)
}

func TestWhichRequestsAreDecided(t *testing.T) {
	recommends := func(cpu, memory string) func(*fixture) {
		return func(f *fixture) { f.facts.Target = amounts(cpu, memory) }
	}
	const followed = "True RecommendationFollowed: the requests of the members follow VerticalPodAutoscaler orders"
	for name, c := range map[string]struct {
		before, change      func(*fixture)
		decision, condition string
	}{
		"the same":                     {nil, nil, "", followed},
		"less than a tenth":            {nil, recommends("540m", "1100Mi"), "", followed},
		"more CPU":                     {nil, recommends("811m", "1Gi"), "820m 1Gi Recommendation", "True Resizing: the members get requests of cpu 820m and memory 1Gi"},
		"less CPU":                     {nil, recommends("301m", "1Gi"), "310m 1Gi Recommendation", "True Resizing: "},
		"not below min":                {nil, recommends("10m", "1Gi"), "250m 1Gi Recommendation", "True Resizing: "},
		"more memory, in whole Mi":     {nil, recommends("500m", "1600000000"), "500m 1526Mi Recommendation", "True Resizing: "},
		"memory does not shrink":       {nil, recommends("500m", "512Mi"), "", followed},
		"a change of CPU keeps memory": {nil, recommends("1", "512Mi"), "1 1Gi Recommendation", "True Resizing: "},
		"at most max":                  {nil, recommends("8", "64Gi"), "2 4Gi Recommendation", "True Resizing: "},
		"more than max is reported":    {decidedBefore("2", "4Gi", 2*time.Hour), recommends("2", "64Gi"), "2 4Gi", "True LimitReached: VerticalPodAutoscaler orders recommends more than spec.autoResize.memory.max, which is 4Gi. Raise it"},
		"the cooldown":                 {decidedBefore("1", "1Gi", time.Minute), recommends("2", "1Gi"), "1 1Gi", "True Cooldown: VerticalPodAutoscaler orders recommends other requests; the operator follows it at 2026-01-01T00:59:00Z"},
		"after the cooldown":           {decidedBefore("1", "1Gi", time.Hour), recommends("2", "1Gi"), "2 1Gi Recommendation", "True Resizing: "},
		"without a cooldown":           {decidedBefore("1", "1Gi", time.Second), func(f *fixture) { recommends("2", "1Gi")(f); f.cluster.Spec.AutoResize.CooldownSeconds = new(int32) }, "2 1Gi Recommendation", "True Resizing: "},
		"a lower max lowers at once":   {decidedBefore("1", "3Gi", time.Second), func(f *fixture) { f.cluster.Spec.AutoResize.Memory = bounds("1Gi", "2Gi") }, "1 2Gi Bounds", "True Resizing: the members get requests of cpu 1 and memory 2Gi"},
		"a lower max while a member is pending": {decidedBefore("1", "3Gi", time.Second), func(f *fixture) {
			f.observed.Members[2].Ready = false
			f.cluster.Spec.AutoResize.Memory = bounds("1Gi", "2Gi")
		}, "1 2Gi Bounds", "True Resizing: the members get requests of cpu 1 and memory 2Gi"},
		"a lower max below the request of the spec": {decidedBefore("1", "3Gi", time.Second), func(f *fixture) { f.cluster.Spec.AutoResize.Memory = bounds("256Mi", "512Mi") }, "1 512Mi Bounds", "False RequestsOutOfBounds: "},
		"a higher min, unknown":                     {decidedBefore("300m", "3Gi", time.Second), func(f *fixture) { f.facts = autoresize.Facts{}; f.cluster.Spec.AutoResize.CPU = bounds("400m", "2") }, "400m 3Gi Bounds", "True Resizing: "},
		"a read that failed":                        {decidedBefore("1", "3Gi", 2*time.Hour), func(f *fixture) { f.facts = autoresize.Facts{Unread: "timeout"} }, "1 3Gi", "Unknown RecommendationMissing: reading VerticalPodAutoscaler orders failed: timeout"},
		"an unknown recommendation":                 {decidedBefore("1", "3Gi", 2*time.Hour), func(f *fixture) { f.facts = autoresize.Facts{Why: "NoPodsMatched: none"} }, "1 3Gi", "Unknown RecommendationMissing: VerticalPodAutoscaler orders has no recommendation of cpu for the container database yet. It reports NoPodsMatched: none"},
		"a recommendation of CPU alone":             {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.facts.Target.Memory = nil }, "1 1Gi Recommendation", "True Resizing: "},
		"no autoscaler keeps the last": {decidedBefore("1", "3Gi", 2*time.Hour), func(f *fixture) {
			f.facts = autoresize.Facts{Reason: dbv1.ReasonAutoscalerMissing, Problem: "it is missing"}
		}, "1 3Gi", "False AutoscalerMissing: it is missing"},
		"no request": {nil, func(f *fixture) {
			recommends("1", "1Gi")(f)
			delete(f.cluster.Spec.Resources.Requests, corev1.ResourceCPU)
		}, "",
			"False RequestsOutOfBounds: spec.resources.requests.cpu must be between 250m and 2, the bounds in spec.autoResize.cpu. Set it, or change the bounds"},
		"a request outside": {nil, func(f *fixture) { f.cluster.Spec.AutoResize.Memory = bounds("2Gi", "4Gi") }, "", "False RequestsOutOfBounds: spec.resources.requests.memory must be between 2Gi and 4Gi"},
		"paused":            {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.cluster.Spec.Paused = true }, "", "True RecommendationPending: the members get other requests after the current operation: spec.paused is true"},
		"hibernated":        {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.cluster.Spec.Hibernated = true }, "", "True RecommendationPending: "},
		"a member is not ready": {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.observed.Members[1].Ready = false }, "",
			"True RecommendationPending: the members get other requests after the current operation: not all members are ready and up to date"},
		"a member is out of memory": {decidedBefore("500m", "1Gi", time.Minute), func(f *fixture) {
			recommends("500m", "2Gi")(f)
			f.observed.Members[1].Ready, f.observed.Members[1].OutOfMemory = false, true
		}, "500m 2Gi Recommendation", "True Resizing: "},
		"more memory waits for the cooldown": {decidedBefore("500m", "1Gi", time.Minute), recommends("500m", "2Gi"), "500m 1Gi", "True Cooldown: "},
		"CPU alone":                          {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.cluster.Spec.AutoResize.Memory = nil }, "1 Recommendation", "True Resizing: "},
		"a member is out of memory, and more CPU does not help": {nil, func(f *fixture) {
			recommends("1", "1Gi")(f)
			f.observed.Members[1].Ready, f.observed.Members[1].OutOfMemory = false, true
		}, "", "True RecommendationPending: "},
		"another member is down for another cause": {nil, func(f *fixture) {
			recommends("500m", "2Gi")(f)
			f.observed.Members[1].Ready, f.observed.Members[1].OutOfMemory = false, true
			f.observed.Members[2].Ready = false
		}, "", "True RecommendationPending: "},
		"a rollout": {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.observed.Members[1].Revision = "old" }, "", "True RecommendationPending: "},
		"a resize is in progress": {decidedBefore("1", "1Gi", 2*time.Hour), func(f *fixture) {
			recommends("2", "1Gi")(f)
			f.observed.Members[1].Revision, f.observed.Members[1].Resources = "old", "requests  limits "
		}, "1 1Gi", "True Resizing: the members get requests of cpu 1 and memory 1Gi"},
		"another rollout is no resize":           {decidedBefore("1", "1Gi", 2*time.Hour), func(f *fixture) { recommends("1", "1Gi")(f); f.observed.Members[1].Revision = "old" }, "1 1Gi", followed},
		"CPU without bounds is that of the spec": {decidedBefore("1", "1Gi", 2*time.Hour), func(f *fixture) { f.cluster.Spec.AutoResize.CPU = nil }, "1Gi Bounds", "True Resizing: "},
		"not asked":                              {nil, func(f *fixture) { recommends("1", "1Gi")(f); f.cluster.Spec.AutoResize = nil }, "", ""},
		"no longer asked":                        {decidedBefore("1", "1Gi", 2*time.Hour), func(f *fixture) { f.cluster.Spec.AutoResize = nil }, "1 1Gi", "False AutoResizeRemoved: spec.autoResize was removed, so the members get spec.resources again"},
		"no longer asked, and done":              {func(f *fixture) { decidedBefore("1", "1Gi", 2*time.Hour)(f); f.cluster.Spec.AutoResize = nil }, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.before)
			if c.change != nil {
				c.change(f)
			}
			d, condition, decision := f.pass()
			if decision != c.decision {
				t.Errorf("it decided %q, want %q", decision, c.decision)
			}
			if !strings.HasPrefix(condition, c.condition) || c.condition == "" && condition != "" {
				t.Errorf("it reports\n%s\nwant\n%s", condition, c.condition)
			}
			if asked := f.cluster.Spec.AutoResize != nil; asked != (d.RequeueAfter > 0) || len(d.Operations) > 0 || d.Stalled != nil {
				t.Errorf("it looks again after %s, and does %v, stalled %v", d.RequeueAfter, d.Operations, d.Stalled)
			}
		})
	}
}

func TestADeletionDecidesNothing(t *testing.T) {
	f := newFixture(t, nil)
	f.facts.Target = amounts("2", "4Gi")
	at := plans.Ago(0)
	f.cluster.DeletionTimestamp = &at
	if _, condition, decision := f.pass(); condition+decision != "" {
		t.Error(condition, decision)
	}
}

// autoscaler is a VerticalPodAutoscaler as its recommender writes it.
func autoscaler(change func(spec, status map[string]any)) *unstructured.Unstructured {
	spec := map[string]any{
		"targetRef":    map[string]any{"apiVersion": "database.dbcluster.io/v1alpha1", "kind": "DatabaseCluster", "name": "orders"},
		"updatePolicy": map[string]any{"updateMode": "Off"},
	}
	status := map[string]any{
		"recommendation": map[string]any{"containerRecommendations": []any{
			map[string]any{"containerName": "exporter", "target": map[string]any{"cpu": "5", "memory": "5Gi"}},
			map[string]any{"containerName": "database", "target": map[string]any{"cpu": "587m", "memory": "262144k"}},
		}},
		"conditions": []any{map[string]any{"type": "RecommendationProvided", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
	}
	if change != nil {
		change(spec, status)
	}
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	made.SetName("size")
	return made
}

func TestWhatAVerticalPodAutoscalerRecommends(t *testing.T) {
	for name, c := range map[string]struct {
		change func(spec, status map[string]any)
		want   string
	}{
		"the database": {nil, "587m 262144k"},
		"nothing yet": {func(_, status map[string]any) {
			delete(status, "recommendation")
			status["conditions"] = []any{map[string]any{"type": "NoPodsMatched", "status": "True", "message": "no pod has these labels"}}
		}, "<nil> <nil>NoPodsMatched: no pod has these labels"},
		"no status": {func(_, status map[string]any) { clear(status) }, "<nil> <nil>"},
		"another target": {func(spec, _ map[string]any) {
			spec["targetRef"] = map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "orders"}
		}, "<nil> <nil>AutoscalerIncompatible: VerticalPodAutoscaler size has the target StatefulSet orders. Set its spec.targetRef to DatabaseCluster orders of database.dbcluster.io/v1alpha1"},
		"another mode":     {func(spec, _ map[string]any) { spec["updatePolicy"] = map[string]any{"updateMode": "Initial"} }, "<nil> <nil>AutoscalerIncompatible: VerticalPodAutoscaler size would change or evict pods itself. Set its spec.updatePolicy.updateMode to \"Off\""},
		"the default mode": {func(spec, _ map[string]any) { delete(spec, "updatePolicy") }, "<nil> <nil>AutoscalerIncompatible: VerticalPodAutoscaler size would change or evict"},
		"a boost": {func(spec, _ map[string]any) {
			spec["startupBoost"] = map[string]any{"cpu": map[string]any{"type": "Factor", "factor": int64(2)}}
		}, "<nil> <nil>AutoscalerIncompatible: VerticalPodAutoscaler size would change pods at their start. Remove its startupBoost"},
		"a boost of a container": {func(spec, _ map[string]any) {
			spec["resourcePolicy"] = map[string]any{"containerPolicies": []any{map[string]any{"startupBoost": map[string]any{}}}}
		}, "<nil> <nil>AutoscalerIncompatible: VerticalPodAutoscaler size would change pods at their start"},
		"nonsense": {func(_, status map[string]any) { status["recommendation"] = "much" }, "<nil> <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			f := autoresize.Of(plans.Orders(), autoscaler(c.change))
			got := fmt.Sprintf("%s %s", f.Target.CPU, f.Target.Memory)
			if f.Reason != "" {
				got += f.Reason + ": "
			}
			if got += f.Problem + f.Why; !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
