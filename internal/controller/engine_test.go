/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func declaredEngine(name string, topology dbv1.EngineTopology) *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name, declared.Spec.Topology = name, topology
	declared.Spec.Container.Port = 7000
	if topology == dbv1.TopologyPrimaryReplica {
		declared.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica"}
	}
	return declared
}

// withData are a cluster and a bound claim with data of an engine.
func withData(asked, owner, engine string) []client.Object {
	cluster := running()
	cluster.Finalizers, cluster.Spec.Engine = []string{dbv1.Finalizer}, asked
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name, claim.Labels = "shop", "data-orders-0", naming.Labels(cluster, dbv1.ComponentDatabase)
	claim.Annotations = map[string]string{dbv1.AnnotationEngine: engine}
	cluster.Spec.Storage.Size = resource.MustParse("1Gi")
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: cluster.Spec.Storage.Size}
	claim.Status.Capacity = claim.Spec.Resources.Requests.DeepCopy()
	if owner != "" {
		claim.Labels[dbv1.LabelClusterUID] = owner
	}
	return []client.Object{cluster, claim}
}

func TestDataOfAnotherTopologyGetsNoMembers(t *testing.T) {
	single, primary := declaredEngine("single-v1", dbv1.TopologyIndependent), declaredEngine("primary-v1", dbv1.TopologyPrimaryReplica)
	for name, c := range map[string]struct {
		owner, data string
		engines     []client.Object
		want        string
	}{
		"of this cluster":                           {"", "single-v1", []client.Object{single, primary}, "True EngineIncompatible"},
		"of this cluster, and its engine is lost":   {"", "single-v1", []client.Object{primary}, "True EngineIncompatible"},
		"of this cluster, and the asked one, too":   {"", "single-v1", nil, "True EngineMissing"},
		"of a previous cluster":                     {"earlier", "single-v1", []client.Object{single, primary}, "True VolumeConflict"},
		"of a previous cluster with a lost engine":  {"earlier", "single-v1", []client.Object{primary}, "True VolumeConflict"},
		"of a previous cluster, of no known engine": {"earlier", "", []client.Object{single, primary}, "True VolumeConflict"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, append(withData("primary-v1", c.owner, c.data), c.engines...)...)
			if _, err := s.pass(t); err != nil {
				t.Fatal(err)
			}
			if got := s.condition(t, dbv1.ConditionStalled); !strings.HasPrefix(got, c.want+": ") {
				t.Error(got)
			}
			if slices.ContainsFunc(s.sent, writesStatefulSet) || c.owner == "" && slices.Contains(s.sent, "create Service orders-replicas") {
				t.Errorf("sent %q", s.sent)
			}
		})
	}
}

func TestDataOfTheSameTopologyGetsMembers(t *testing.T) {
	s := newServer(t, append(withData("single-v2", "", "single-v1"),
		declaredEngine("single-v1", dbv1.TopologyIndependent), declaredEngine("single-v2", dbv1.TopologyIndependent))...)
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.sent, "create StatefulSet orders") {
		t.Errorf("sent %q, Stalled is %s", s.sent, s.condition(t, dbv1.ConditionStalled))
	}
}

// A cluster that was refused before its first member, for example because of its number of members, has no data.
func TestAClusterWithoutDataMayChangeItsTopology(t *testing.T) {
	objects := append(withData("single-v1", "", "primary-v1"),
		declaredEngine("single-v1", dbv1.TopologyIndependent), declaredEngine("primary-v1", dbv1.TopologyPrimaryReplica))
	objects[1].(*corev1.PersistentVolumeClaim).Status = corev1.PersistentVolumeClaimStatus{} // it is not bound
	s := newServer(t, objects...)
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.sent, "create StatefulSet orders") {
		t.Errorf("sent %q, Stalled is %s", s.sent, s.condition(t, dbv1.ConditionStalled))
	}
}

func TestAStatefulSetKeepsTheEngineOfItsTemplate(t *testing.T) {
	cluster := running()
	cluster.Finalizers, cluster.Spec.Engine = []string{dbv1.Finalizer}, "single-v1"
	s := newServer(t, cluster, declaredEngine("single-v1", dbv1.TopologyIndependent), declaredEngine("primary-v1", dbv1.TopologyPrimaryReplica))
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Engine = "primary-v1"
	if err := s.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	set := &appsv1.StatefulSet{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), set); err != nil {
		t.Fatal(err)
	}
	if got := set.Spec.Template.Annotations[dbv1.AnnotationEngine]; got != "single-v1" || !slices.Equal(s.sent, []string{"patch status of orders"}) {
		t.Errorf("the template has engine %q; sent %q", got, s.sent)
	}
	if got := s.condition(t, dbv1.ConditionStalled); !strings.HasPrefix(got, "True EngineIncompatible: ") {
		t.Error(got)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil || cluster.Spec.Engine != "primary-v1" {
		t.Errorf("the spec has engine %q, %v", cluster.Spec.Engine, err)
	}
}

func TestAnEngineOfTheDataThatCannotBeReadIsNoOther(t *testing.T) {
	for name, refusal := range map[string]struct {
		err  error
		want string
	}{
		"forbidden":    {apierrors.NewForbidden(schema.GroupResource{Resource: "databaseengines"}, "single-v1", errors.New("no")), "True EngineIncompatible: "},
		"not answered": {errors.New("connection refused"), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, append(withData("single-v2", "", "single-v1"),
				declaredEngine("single-v1", dbv1.TopologyIndependent), declaredEngine("single-v2", dbv1.TopologyIndependent))...)
			read := 0
			s.reads = func(object client.Object) error {
				if _, is := object.(*dbv1.DatabaseEngine); !is {
					return nil
				}
				if read++; read%2 == 0 { // the second one of each pass
					return refusal.err
				}
				return nil
			}
			if _, err := s.pass(t); (err != nil) != (name == "not answered") {
				t.Error(err)
			}
			if got := s.condition(t, dbv1.ConditionStalled); !strings.HasPrefix(got, refusal.want) || slices.ContainsFunc(s.sent, writesStatefulSet) {
				t.Errorf("sent %q, Stalled is %s", s.sent, got)
			}
		})
	}
}
