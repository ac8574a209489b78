/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Writes are the objects that are not as they should be, in order of creation: a member needs its DNS
// name and should never be without its disruption budget. Objects of somebody else are left alone, and
// no members are made whose names would lead to somebody else's Service. The port may be the engine's: while that is
// not known, Services stay as they are.
func Writes(s *situation.Situation) operation.List {
	var all operation.List
	add := func(child resources.Child, live metav1.Object) {
		if s.Holds(child.Kind(), child.Name()) {
			return
		}
		if apply, needed := applyOf(child, live); needed {
			all = append(all, apply)
		}
	}
	headless := resources.HeadlessService(s.Cluster)
	if s.EngineKnown() {
		add(headless, s.HeadlessService)
		add(resources.Service(s.Cluster), s.Service)
	}
	add(resources.PodDisruptionBudget(s.Cluster), s.PodDisruptionBudget)
	if s.Cluster.Spec.Config != nil {
		config := resources.ConfigMap(s.Cluster)
		add(config, find(s.Configs, config.Name()))
	}
	if membersMayBeMade(s, headless) && !s.Inherits() {
		add(resources.StatefulSet(s.Cluster, s.ReplicasNow(), s.Observed), s.StatefulSet)
	}
	return all
}

// membersMayBeMade tells whether the StatefulSet may be written: its members' names lead to the headless
// Service, what they need exists, and it is not on its way out. The first have to find their volumes filled, where
// they are to start with a backup.
func membersMayBeMade(s *situation.Situation, headless resources.Child) bool {
	return !s.Holds(headless.Kind(), headless.Name()) && !s.TemplateBlocked() && !s.StatefulSetTerminating() && !s.EmptyHanded()
}

func find(configs []*corev1.ConfigMap, name string) *corev1.ConfigMap {
	i := slices.IndexFunc(configs, func(c *corev1.ConfigMap) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return configs[i]
}

func applyOf(child resources.Child, live metav1.Object) (apply operation.Apply, needed bool) {
	if reflect.ValueOf(live).IsNil() {
		return operation.Apply{Child: child}, true
	}
	drift := child.Drift(live)
	if drift == "" {
		return operation.Apply{}, false
	}
	return operation.Apply{
		Child: child, UID: live.GetUID(), Version: live.GetResourceVersion(), Drift: drift, Removals: child.Removals(live),
	}, true
}

// Applying says which objects are being written: nothing else is done before they are as they should be.
func Applying(s *situation.Situation) phase.Outcome {
	var all []operation.Apply
	for _, o := range s.Upkeep {
		if apply, is := o.(operation.Apply); is {
			all = append(all, apply)
		}
	}
	if len(all) == 0 {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonApplying, operation.Describe(all))
}

// Leftovers are the ConfigMaps with former files of spec.config. They are asked for when the cluster has
// settled: no member runs with them any more.
func Leftovers(s *situation.Situation) []operation.Removal {
	var all []operation.Removal
	for _, config := range s.Configs {
		if config.Name != resources.ConfigMapName(s.Cluster) && config.DeletionTimestamp == nil {
			all = append(all, operation.Removal{
				Kind: "ConfigMap", Name: config.Name, UID: config.UID, Version: config.ResourceVersion, Why: "no member uses these files",
			})
		}
	}
	return all
}
