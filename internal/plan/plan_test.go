/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

// orders is a cluster of three that has its finalizer.
func orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Namespace, c.Name, c.UID, c.Finalizers = "shop", "orders", uid, []string{dbv1.Finalizer}
	c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = 3, "database:1", resource.MustParse("1Gi")
	c.Spec.Deletion.OnFailure, c.Spec.Service.Type = dbv1.HookFailureBlock, corev1.ServiceTypeClusterIP
	return engine.Resolve(c, nil)
}

// standing is what stands when everything is as the spec says.
func standing(t *testing.T, c *dbv1.DatabaseCluster) state.Observed {
	t.Helper()
	o := state.Observed{
		HeadlessService:     live[corev1.Service](t, resources.HeadlessService(c)),
		Service:             live[corev1.Service](t, resources.Service(c)),
		PodDisruptionBudget: live[policyv1.PodDisruptionBudget](t, resources.PodDisruptionBudget(c)),
		StatefulSet:         live[appsv1.StatefulSet](t, resources.StatefulSet(c, c.Spec.Replicas, state.Observed{})),
	}
	o.At = now
	o.StatefulSet.Annotations[dbv1.AnnotationSealed] = resources.Seal(o.StatefulSet)
	o.StatefulSet.Generation, o.StatefulSet.Status.ObservedGeneration, o.StatefulSet.Status.UpdateRevision = 1, 1, "new"
	for ordinal := range c.Spec.Replicas {
		o.Members = append(o.Members, state.Member{Name: fmt.Sprintf("orders-%d", ordinal), Ordinal: ordinal, Revision: "new", Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Hour))})
	}
	return o
}

func live[T any](t *testing.T, child resources.Child) *T {
	t.Helper()
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object.Object, object); err != nil {
		t.Fatal(err)
	}
	any(object).(metav1.Object).SetUID("live")
	return object
}

func decide(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	_, p := For(cluster, observed)
	return p
}

// disrupts tells whether a plan stops, starts or replaces something.
func disrupts(p Plan) bool { return p.Operations.Need(operation.Disruptive) }

// removals are the objects that a plan deletes.
func removals(p Plan) []operation.Removal {
	deletion, _ := operation.Find[operation.Delete](p.Operations)
	return deletion.Objects
}

// each is a line for each object of an operation.
func each(o operation.Operation) []string {
	switch o := o.(type) {
	case operation.AdoptVolumes:
		return lines("adopt ", o.Claims)
	case operation.ResizeVolumes:
		return lines("resize ", o.Claims)
	case operation.LabelVolumes:
		return lines("", o.Claims)
	case operation.ReleasePods:
		return lines("release ", o.Pods)
	case operation.Delete:
		return lines("delete ", o.Objects)
	default:
		return []string{o.String()}
	}
}

func lines[T fmt.Stringer](lead string, all []T) []string {
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, lead+one.String())
	}
	return texts
}

// writes tells whether a plan writes objects.
func writes(p Plan) bool {
	_, found := operation.Find[operation.Apply](p.Operations)
	return found
}

// text is a plan as people read it.
func text(p Plan) string {
	out := ""
	for _, o := range p.Operations {
		out += strings.Join(each(o), "\n") + "\n"
	}
	out += p.Reason + ": " + p.Message + "\n"
	if p.RequeueAfter > 0 {
		out += "again in " + p.RequeueAfter.String() + "\n"
	}
	if p.Newer {
		out += "NEWER\n"
	}
	if p.Stalled != nil {
		out += "STALLED " + p.Stalled.Reason + "\n"
	}
	return out
}

func outdated(o *state.Observed, ordinals ...int) {
	for _, i := range ordinals {
		o.Members[i].Revision = "old"
	}
}

// scenario is a change to a settled cluster of three and the plan that it leads to.
type scenario struct {
	change func(*dbv1.DatabaseCluster, *state.Observed)
	want   string
}

func decideEach(t *testing.T, scenarios map[string]scenario) {
	t.Helper()
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			cluster := orders()
			observed := standing(t, cluster)
			s.change(cluster, &observed)
			if got := text(decide(cluster, observed)); got != s.want {
				t.Errorf("got:\n%swant:\n%s", got, s.want)
			}
		})
	}
}

func TestWhatIsDoneForARunningCluster(t *testing.T) {
	decideEach(t, map[string]scenario{
		"nothing when all is as it should be": {
			func(*dbv1.DatabaseCluster, *state.Observed) {}, "Settled: the cluster is as its spec says\n",
		},
		"everything for a new cluster, the finalizer first and the members last": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Finalizers = nil; *o = state.Observed{} },
			"add the finalizer\ncreate Service orders-headless\ncreate Service orders\ncreate PodDisruptionBudget orders\ncreate StatefulSet orders\n" +
				"Applying: create Service orders-headless, create Service orders, create PodDisruptionBudget orders, create StatefulSet orders\n",
		},
		"what is missing": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service = nil }, "create Service orders\nApplying: create Service orders\n",
		},
		"what differs": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service.Spec.Selector["x"] = "y" },
			"update Service orders (spec.selector)\nApplying: update Service orders (spec.selector)\n",
		},
		"no restart while an object has to be written": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service = nil; outdated(o, 0, 1, 2) },
			"create Service orders\nApplying: create Service orders\n",
		},
		"members come all at once": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 5 },
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"members go one by one": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 },
			"scale in to 2\nScaling: going from 3 to 1 members, one at a time\n",
		},
		"the next goes only when the last is gone": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				*o.StatefulSet.Spec.Replicas = 2
			},
			"Scaling: pod orders-2 is stopping\n",
		},
		"no restart for a change that somebody else made to the template": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				outdated(o, 0, 1, 2)
				o.StatefulSet.Spec.Template.Spec.NodeSelector = map[string]string{"no": "such"}
			},
			"update StatefulSet orders (spec.template)\nApplying: update StatefulSet orders (spec.template)\n",
		},
		"a member between two crashes does not serve": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[1].ReadySince, o.Members[1].Problem = metav1.NewTime(now.Add(-time.Second)), "exited"
			},
			"WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\nagain in 9s\n",
		},
		"a broken member that is current is left to Kubernetes": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[1].Ready, o.Members[1].Problem = false, "crash"
			},
			"WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\n",
		},
		"an object of somebody else is left alone and the others are made": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o = state.Observed{Foreign: []state.Ref{{Kind: "Service", Name: "orders"}}}
			},
			"create Service orders-headless\ncreate PodDisruptionBudget orders\ncreate StatefulSet orders\n" +
				"Applying: create Service orders-headless, create PodDisruptionBudget orders, create StatefulSet orders\nagain in 30s\nSTALLED NameConflict\n",
		},
		"what a former cluster of the name left is waited for": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members = nil, nil
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders", Leaving: true}}
			},
			"WaitingForFormer: StatefulSet orders of a former cluster of this name is being removed\nagain in 2s\n",
		},
		"no members are made whose names lead to somebody else's Service": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o = state.Observed{Foreign: []state.Ref{{Kind: "Service", Name: "orders-headless"}}}
			},
			"create Service orders\ncreate PodDisruptionBudget orders\n" +
				"Applying: create Service orders, create PodDisruptionBudget orders\nagain in 30s\nSTALLED NameConflict\n",
		},
	})
}
