/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// noStatefulSet is the fence of a cluster without members and without StatefulSet.
const noStatefulSet = "no-statefulset"

// Fence identifies a state in which no member can accept a write: a StatefulSet without replicas, by its UID and generation, or no
// StatefulSet. Every change of replicas changes the generation, so members that ran in between change the fence. After that, the
// operator does not change the spec, and annotations do not change the generation. It is "" if a
// member may run: the StatefulSet controller has not observed the latest change, or the StatefulSet is terminating and may still
// create pods. The caller knows that no member pod exists.
func Fence(set *appsv1.StatefulSet) string {
	switch {
	case set == nil:
		return noStatefulSet
	case set.DeletionTimestamp != nil, set.Spec.Replicas == nil, *set.Spec.Replicas > 0, set.Status.ObservedGeneration < set.Generation:
		return ""
	}
	return fmt.Sprintf("%s/%d", set.UID, set.Generation)
}

// Fence returns the fence of the cluster; "" while a member exists, or a StatefulSet of another owner may create one.
func (o Observed) Fence() string {
	if len(o.Members) > 0 || o.Unfenced() != "" {
		return ""
	}
	return Fence(o.StatefulSet)
}

// Unfenced returns an object that the operator does not control and that may write to the volumes; "" for none.
func (o Observed) Unfenced() string {
	for _, ref := range o.Foreign {
		if ref.Kind == "StatefulSet" {
			return "StatefulSet " + ref.Name
		}
	}
	for _, b := range o.Bystanders {
		if b.Component == dbv1.ComponentDatabase && !b.Ended {
			return "pod " + b.Name
		}
	}
	return ""
}
