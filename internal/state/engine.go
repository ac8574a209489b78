/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// EngineOfData returns the engine of the cluster's data if it may differ from a given one; "" if the data is of members without an
// engine. A cluster without a StatefulSet, members and filled volumes has no data.
func (o Observed) EngineOfData(cluster types.UID, asked string) (name string, differs bool) {
	all := o.enginesOfData(cluster)
	return cmp.Or(all...), len(all) > 0 && !slices.Contains(all, asked)
}

// enginesOfData are the engines that the template of the members records. If it records none, the members had no engine when the
// operator wrote it, or another client removed the record: then their pods and claims count, too.
func (o Observed) enginesOfData(cluster types.UID) []string {
	var all []string
	if set := cmp.Or(o.StatefulSet, o.PreviousStatefulSet); set != nil {
		all = append(all, set.Spec.Template.Annotations[dbv1.AnnotationEngine])
	}
	if cmp.Or(all...) != "" {
		return all
	}
	for _, v := range o.Volumes {
		if v.Usable() && v.Cluster == cluster && !v.Capacity.IsZero() { // an unbound claim has no data
			all = append(all, v.Engine)
		}
	}
	for _, m := range o.Members {
		all = append(all, m.Engine)
	}
	return all
}
