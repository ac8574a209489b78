/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Writes are the objects that differ from the desired ones, in order of creation: a member needs its DNS name, and must always have
// a disruption budget. The operator ignores objects of other owners. It creates no members whose names would resolve to a Service
// of another owner. The port may come from the engine: while the engine is unknown, Services do not change.
//
// If all objects were as desired in an earlier pass, and nothing has changed that this depends on, Writes renders none of them.
func Writes(s *situation.Situation) operation.List {
	d := demandOf(s)
	inputs := d.hash(s)
	if s.Comparisons.Is(s.Cluster.UID, inputs) {
		return nil
	}
	all := d.writes(s)
	if len(all) == 0 {
		s.Comparisons.Set(s.Cluster.UID, inputs)
	}
	return all
}

// demand is whether the StatefulSet is to be written, and with which members, and whether the primary has its own budget.
type demand struct {
	Members         bool
	Start, Replicas int32
	Splits          bool
}

func demandOf(s *situation.Situation) demand {
	d := demand{Splits: s.SplitsBudget()}
	if mayCreateMembers(s) && !s.Inherits() {
		d.Members = true
		d.Start, d.Replicas = s.Extent()
	}
	return d
}

// budget writes the PodDisruptionBudget of the members, or of all but the primary. A paused operator has deleted that of the primary, so
// the other one includes all members again.
func (d demand) budget(s *situation.Situation) (operation.Apply, bool) {
	child := resources.PodDisruptionBudget(s.Cluster)
	if d.Splits {
		child = resources.ReplicasBudget(s.Cluster, s.Engine.Spec.Roles)
	}
	if s.OwnedByAnother(child.Kind(), child.Name()) {
		return operation.Apply{}, false
	}
	apply, needed := operation.ApplyOf(child, s.PodDisruptionBudget)
	apply.Is.WhilePaused = !d.Splits && s.PodDisruptionBudget != nil && len(s.PodDisruptionBudget.Spec.Selector.MatchExpressions) > 0
	return apply, needed
}

func (d demand) writes(s *situation.Situation) operation.List {
	var all operation.List
	add := func(child objects.Child, live metav1.Object) {
		if s.OwnedByAnother(child.Kind(), child.Name()) {
			return
		}
		if apply, needed := operation.ApplyOf(child, live); needed {
			all = append(all, apply)
		}
	}
	if s.EngineKnown() {
		add(resources.HeadlessService(s.Cluster), s.HeadlessService)
		add(resources.Service(s.Cluster, s.Engine), s.Service)
		if s.HasRoles() {
			add(resources.ReplicasService(s.Cluster, s.Engine), s.ReplicasService)
		}
	}
	if apply, needed := d.budget(s); needed {
		all = append(all, apply)
	}
	if s.Cluster.Spec.Config != nil {
		config := resources.ConfigMap(s.Cluster)
		add(config, find(s.Configs, config.Name()))
	}
	if d.Members && !resources.Stands(d.Start, s.Cluster, d.Replicas, s.Observed) {
		add(resources.StatefulSetFrom(d.Start, s.Cluster, d.Replicas, s.Observed), s.StatefulSet)
	}
	return all
}

// mayCreateMembers reports whether the StatefulSet may be written: the headless Service of its members exists, so do the objects
// that they need, their ServiceAccount is not that of another owner, and the StatefulSet is not terminating. If the cluster starts with a
// backup, the first members need restored volumes. Members that Kubernetes is about to stop do not go on: a new StatefulSet would start
// all at once, and the last primary has to start first.
func mayCreateMembers(s *situation.Situation) bool {
	_, abandoned := s.Abandoned()
	return !abandoned && !s.OwnedByAnother("Service", naming.HeadlessService(s.Cluster.Name)) && !s.ForeignServiceAccount() &&
		!s.TemplateBlocked() && !s.Detached() && !s.StatefulSetTerminating() && !s.EmptyHanded() && agreed(s)
}

func find(configs []*corev1.ConfigMap, name string) *corev1.ConfigMap {
	i := slices.IndexFunc(configs, func(c *corev1.ConfigMap) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return configs[i]
}

// Applying reports the objects that are being written. No later phase starts before that is done.
func Applying(s *situation.Situation) phase.Outcome {
	var all []operation.Operation
	for _, o := range s.Upkeep {
		if o.Properties().Applies {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonApplying, operation.Describe(all))
}

// Leftovers are ConfigMaps with old files of spec.config. They are deleted after the cluster has converged, because no member uses them
// any more.
func Leftovers(s *situation.Situation) []operation.Removal {
	var all []operation.Removal
	for _, config := range s.Configs {
		if config.Name != pods.ConfigMapName(s.Cluster) && config.DeletionTimestamp == nil {
			all = append(all, operation.TargetOf(operation.Core("ConfigMap"), config).Because("no member uses these files"))
		}
	}
	return all
}
