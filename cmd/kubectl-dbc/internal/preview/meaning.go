/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// meaning describes a change of the spec for those who use the members.
func meaning(before, after *situation.Situation, changed bool) []string {
	var all []string
	decided := plan.For(after)
	if decided.Stalled != nil {
		all = append(all, stall(decided.Stalled))
	}
	switch {
	case !changed:
		return append(all, "No change.")
	case after.Deleting():
		return append(all, "The DatabaseCluster is being deleted: the operator continues that, and changes no member for the spec.")
	case before == nil:
		return append(all, fmt.Sprintf("The operator creates the cluster with %d members.", after.Wanted))
	case after.Cluster.Spec.Paused:
		return append(all, "spec.paused is true: the operator changes nothing until it is false.")
	case after.TemplateBlocked():
		return append(all, "Until you correct that, the operator does not change the members.")
	}
	all = append(all, members(before, after))
	return slices.Concat(all, number(before, after), volumes(before, after), requested(before, after, decided.Operations))
}

func stall(s *situation.Stall) string {
	return fmt.Sprintf("The operator would need you: Stalled (%s): %s", s.Reason, s.Message)
}

// members is what happens to the members that run.
func members(before, after *situation.Situation) string {
	a, b := before.Cluster.Spec, after.Cluster.Spec
	switch restarts, newer := restarted(before, after); {
	case a.Hibernated != b.Hibernated:
		return map[bool]string{true: "All members stop, the primary last.", false: "All members start."}[b.Hibernated]
	case b.Hibernated:
		return "The cluster is hibernated, so no member runs."
	case restarts && newer:
		return rollout(b.UpdateStrategy) +
			" This version would render the pods of the current spec differently, so more can change than is shown."
	case restarts:
		return rollout(b.UpdateStrategy)
	case !equality.Semantic.DeepEqual(a.Resources, b.Resources):
		return "The members get their resources while they run. A member restarts if its node has no room for them."
	case !reflect.DeepEqual(a.Parameters, b.Parameters) && !pods.InTemplate(after.Cluster):
		return "A Job puts the parameters in force. The engine may restart servers in their pods for that, and the operator restarts no pod."
	default:
		return "No member restarts."
	}
}

// rollout is how members restart.
func rollout(strategy dbv1.ClusterUpdateStrategy) string {
	switch {
	case strategy.Type == dbv1.UpdateOnDelete:
		return "The members keep their pods until you delete these: spec.updateStrategy.type is OnDelete."
	case strategy.Paused:
		return "The members restart when spec.updateStrategy.paused is false."
	case strategy.MaxUnavailable > 1:
		return fmt.Sprintf("The members restart, at most %d at a time, the primary last.", strategy.MaxUnavailable)
	default:
		return "The members restart one after another, the primary last."
	}
}

// restarted reports whether the members get another pod template than the one they have. Newer is true if a part of the difference is that
// another version of the operator has rendered the template.
func restarted(before, after *situation.Situation) (restarts, newer bool) {
	live := after.StatefulSet
	if live == nil {
		return false, false
	}
	start, _ := after.Extent()
	next := resources.StatefulSetFrom(start, after.Cluster, after.Wanted, after.Observed)
	had := live.Spec.Template.Annotations[dbv1.AnnotationTemplate]
	newer = !before.TemplateBlocked() && templateOf(fresh(before).Object.Object) != had // otherwise nothing was rendered
	return templateOf(next.Object.Object) != had, newer
}

// number is which members are added or removed.
func number(before, after *situation.Situation) []string {
	a, b := before.Cluster.Spec.Replicas, after.Cluster.Spec.Replicas
	switch {
	case b > a:
		return []string{fmt.Sprintf("The number of members grows from %d to %d.", a, b)}
	case b < a:
		return []string{fmt.Sprintf("The number of members shrinks from %d to %d. Those with the highest numbers stop.", a, b)}
	}
	return nil
}

// volumes is what happens to the volumes.
func volumes(before, after *situation.Situation) []string {
	a, b := before.Cluster.Spec.Storage, after.Cluster.Spec.Storage
	var all []string
	if b.Size.Cmp(a.Size) > 0 {
		all = append(all, fmt.Sprintf("The volumes grow from %s to %s while the members run, if their StorageClass allows it.",
			a.Size.String(), b.Size.String()))
	}
	if b.VolumeAttributesClassName != a.VolumeAttributesClassName {
		all = append(all, fmt.Sprintf("The volumes get the attributes of VolumeAttributesClass %q while the members run.",
			b.VolumeAttributesClassName))
	}
	return all
}
