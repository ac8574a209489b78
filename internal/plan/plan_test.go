/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
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

// settled is what stands when everything is as the spec says.
func settled(t *testing.T, c *dbv1.DatabaseCluster) state.Observed {
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

// text is a plan as people read it.
func text(p Plan) string {
	out := ""
	if p.AddFinalizer {
		out += "add the finalizer\n"
	}
	for _, r := range p.Release {
		out += r.String() + "\n"
	}
	for _, a := range p.Adopt {
		out += "adopt " + a.String() + "\n"
	}
	for _, c := range p.Claims {
		out += "resize " + c.String() + "\n"
	}
	for _, l := range p.Labels {
		out += l.String() + "\n"
	}
	for _, w := range p.Apply {
		out += w.String() + "\n"
	}
	for _, r := range p.Delete {
		out += "delete " + r.String() + "\n"
	}
	if p.Step != nil {
		out += p.Step.String() + "\n"
	}
	out += p.Reason + ": " + p.Why + "\n"
	if p.Again > 0 {
		out += "again in " + p.Again.String() + "\n"
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

// situation is a change to a settled cluster of three and the plan that it leads to.
type situation struct {
	change func(*dbv1.DatabaseCluster, *state.Observed)
	want   string
}

func decideEach(t *testing.T, situations map[string]situation) {
	t.Helper()
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			cluster := orders()
			observed := settled(t, cluster)
			s.change(cluster, &observed)
			if got := text(For(cluster, observed)); got != s.want {
				t.Errorf("got:\n%swant:\n%s", got, s.want)
			}
		})
	}
}

func TestWhatIsDoneForARunningCluster(t *testing.T) {
	decideEach(t, map[string]situation{
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
