/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// missing are the Secrets and ConfigMaps that pods cannot start without and that do not exist.
func missing(observed state.Observed) []state.Reference {
	var all []state.Reference
	for _, r := range observed.References {
		if !r.Found && !r.Optional {
			all = append(all, r)
		}
	}
	return all
}

// unfit is why no pod can be made from the spec: what it names does not exist, or does not fit the rest. A deletion
// needs none of that.
func unfit(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if cluster.DeletionTimestamp != nil {
		return nil
	}
	absent := missing(observed)
	if len(absent) == 0 || !engineKnown(cluster, observed) {
		return misfit(cluster, observed)
	}
	return &Stall{dbv1.ReasonReferenceMissing, describeMissing(absent)}
}

// holdsBack tells whether the StatefulSet has to stay as it is because a pod made from the spec could not start,
// or would start otherwise than its engine says. Where only a Secret or ConfigMap is missing, members without a
// StatefulSet get one all the same.
func holdsBack(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if misfit(cluster, observed) != nil {
		return true
	}
	return len(missing(observed)) > 0 && (observed.StatefulSet != nil || len(observed.Members) == 0)
}

// held waits for what is missing or does not fit.
func held(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if !holdsBack(cluster, observed) {
		return false
	}
	p.Reason, p.Why = dbv1.ReasonWaitingForReference, unfit(cluster, observed).Message
	return true
}

func describeMissing(all []state.Reference) string {
	texts := make([]string, 0, len(all))
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s %s, which %s names, does not exist", r.Kind, r.Name, r.Where))
	}
	return strings.Join(texts, "; ")
}

// unfitStall is the stall of such a spec.
func unfitStall(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	cause := unfit(cluster, observed)
	if cause == nil {
		return nil
	}
	until := "then"
	if cause.Reason == dbv1.ReasonReferenceMissing {
		until = "it is created"
	}
	return &Stall{cause.Reason, fmt.Sprintf("%s; no member is started or restarted until %s", cause.Message, until)}
}
