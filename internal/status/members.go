/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// count fills in the members, their numbers, and their volumes.
func (p PassResult) count(status *dbv1.DatabaseClusterStatus) {
	outdated := p.Outdated()
	revision, known := p.Revision()
	if known {
		status.UpdateRevision = revision
		status.UpdatedReplicas = int32(len(p.Members) - len(outdated))
	}
	status.Replicas = int32(len(p.Members))
	status.ReadyReplicas = p.Ready()
	status.Members = make([]dbv1.MemberStatus, 0, len(p.Members))
	for _, m := range p.Members {
		old := slices.ContainsFunc(outdated, func(o state.Member) bool { return o.Name == m.Name })
		status.Members = append(status.Members, p.member(m, old))
	}
	status.Version = p.version()
	status.Storage = p.storage()
}

// version is the version of the database; "" while the members differ, and if it is unknown.
func (p PassResult) version() string {
	if len(p.Members) == 0 {
		return ""
	}
	first := p.Members[0].Reports
	if slices.ContainsFunc(p.Members, func(m state.Member) bool { return m.Reports != first }) {
		return ""
	}
	return first
}

func (p PassResult) member(m state.Member, outdated bool) dbv1.MemberStatus {
	seen := dbv1.MemberStatus{
		Pod: m.Name, Ordinal: m.Ordinal, Revision: m.Revision, Outdated: outdated, Ready: m.Serving(p.At),
		Node: m.Node, Zone: m.Zone, Version: m.Reports, Role: p.RoleOf(m),
	}
	switch {
	case m.Terminating:
		seen.State = dbv1.MemberTerminating
	case seen.Ready:
		seen.State = dbv1.MemberReady
	case m.Problem != "" || m.Ailing(p.At) != "":
		seen.State, seen.Message = dbv1.MemberFailing, truncate(cmp.Or(m.Problem, m.Ailing(p.At)))
	default:
		seen.State = dbv1.MemberStarting
	}
	for _, v := range p.Volumes {
		if v.Ordinal == m.Ordinal {
			seen.Volume = &dbv1.MemberVolumeStatus{Claim: v.Claim, Requested: v.Requested, Capacity: sizeOf(v.Capacity),
				AttributesClass: v.CurrentClass}
		}
	}
	return seen
}

// storage returns the largest requested and the smallest actual size of the volumes; nil without volumes.
func (p PassResult) storage() *dbv1.ClusterStorageStatus {
	var seen *dbv1.ClusterStorageStatus
	for _, v := range p.Volumes {
		if v.Ordinal >= p.Cluster.Spec.Replicas {
			continue
		}
		if seen == nil {
			seen = &dbv1.ClusterStorageStatus{}
		}
		if v.Requested.Cmp(seen.Requested) > 0 {
			seen.Requested = v.Requested
		}
		if capacity := sizeOf(v.Capacity); capacity != nil && (seen.Capacity == nil || capacity.Cmp(*seen.Capacity) < 0) {
			seen.Capacity = capacity
		}
	}
	return seen
}

func sizeOf(quantity resource.Quantity) *resource.Quantity {
	if quantity.IsZero() {
		return nil
	}
	return &quantity
}

func (p PassResult) restore() *dbv1.ClusterRestoreStatus {
	seen := p.Plan.Restore.DeepCopy()
	if seen != nil {
		seen.Message = truncate(seen.Message)
	}
	return seen
}
