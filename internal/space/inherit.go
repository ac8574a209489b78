/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// The protection is a part of the data. So data from before may have it although the status does not record it, and clients could not
// write.

// inherit lifts the protection that the data of the volumes may have, once the members run.
func inherit(s *situation.Situation, f Facts) guard {
	p := &dbv1.ClusterStorageProtection{Usage: dbv1.ClusterStorageUsage{Claim: naming.Claim(s.Cluster, 0), Time: metav1.NewTime(s.At)}}
	m, known := target(s, p)
	measuring := f.Asked && !f.Begun // a database whose volume is nearly full stays protected
	if !known || !m.Ready || measuring || !offered(s) || !unknownData(s) || s.Stopping() || s.Cluster.Spec.Paused {
		return guard{}
	}
	p.Usage.Claim = naming.Claim(s.Cluster, m.Ordinal)
	v, _ := state.First(s.InUse(), func(v state.Volume) bool { return v.Claim == p.Usage.Claim })
	p.Capacity = v.Capacity
	return guard{next: turned(s, p, dbv1.ProtectionLifting), quiet: true}
}

// inherited reports whether a protection is one that the data may have.
func inherited(p *dbv1.ClusterStorageProtection) bool { return p.Usage.UsedPercent == 0 }

// adopted is the growth that a previous cluster has decided, as its volumes show it; nil if the status has one, or they show none. Without
// it, the volume of a new member, or of a copy, would be too small for the data.
func adopted(s *situation.Situation) *dbv1.ClusterStorageGrowth {
	grows := s.Cluster.Spec.Storage.AutoGrow
	if grows == nil || recorded(s.Cluster) != nil {
		return nil
	}
	var growth *dbv1.ClusterStorageGrowth
	size := s.Cluster.Spec.Storage.Size
	for _, v := range s.InUse() {
		has := least(v.Requested, v.Capacity, grows.Limit) // a provider may give more than requested
		if older(s, v) && has.Cmp(size) > 0 {
			size = has
			growth = &dbv1.ClusterStorageGrowth{Size: has, Time: metav1.NewTime(s.At), Cause: dbv1.StorageCauseUnknown,
				Usage: dbv1.ClusterStorageUsage{Claim: v.Claim, Time: metav1.NewTime(s.At)}}
		}
	}
	return growth
}

func least(all ...resource.Quantity) resource.Quantity {
	return slices.MinFunc(all, func(a, b resource.Quantity) int { return a.Cmp(b) })
}

// older reports whether a volume is from before the cluster.
func older(s *situation.Situation, v state.Volume) bool {
	return !v.Created.IsZero() && v.Created.Before(&s.Cluster.CreationTimestamp)
}

// replaced reports whether the members use other volumes than those of a protection.
func replaced(s *situation.Situation, p *dbv1.ClusterStorageProtection) bool {
	template, _, named := naming.TemplateOf(s.Cluster.Name, p.Usage.Claim)
	return named && template != naming.ClaimTemplate(s.Cluster)
}

// unknownData reports whether the data of the volumes may have a protection: they are older than the cluster, or other ones than those
// whose protection is recorded or was removed.
func unknownData(s *situation.Situation) bool {
	if p := protection(s.Cluster); p != nil && replaced(s, p) {
		return true
	}
	if is := s.Cluster.Status.Storage; is != nil && is.Unprotected != "" {
		return is.Unprotected != naming.ClaimTemplate(s.Cluster)
	}
	return slices.ContainsFunc(s.InUse(), func(v state.Volume) bool { return older(s, v) })
}
