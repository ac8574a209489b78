/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Inherits reports whether the members have to wait until volumes of a previous cluster are adopted.
func (s *Situation) Inherits() bool {
	return s.NotStarted() && (len(s.Left) > 0 || s.Ambiguous(s.Cluster))
}

// concerns reports whether a volume of a previous cluster is one that a member of this cluster would use. New members of a new
// cluster may use others later, if it can adopt them now.
func (s *Situation) concerns(v state.Volume) bool {
	if !s.Previous(v) || s.Ephemeral() {
		return false
	}
	restores := s.Cluster.Spec.Bootstrap != nil && s.Cluster.Spec.Bootstrap.FromBackup != nil // nothing is adopted, see members.VolumeConflict
	last, _ := s.lastPrimary()
	return v.Ordinal < s.Cluster.Spec.Replicas || s.NotStarted() && (v.Ordinal <= last || s.Fits(v) && !v.Terminating && !restores)
}

// Fits reports whether a volume contains complete data of the engine.
func (s *Situation) Fits(v state.Volume) bool {
	return v.Engine == s.Cluster.Spec.Engine && !v.IsFilling()
}

// Unadopted returns a volume of a previous cluster with which a further member of this cluster would start.
func (s *Situation) Unadopted() (volume state.Volume, found bool) {
	return state.First(s.Left, func(v state.Volume) bool { return !s.NotStarted() && !s.Uses(v) })
}

// Uses reports whether the cluster has a member with a volume.
func (s *Situation) Uses(v state.Volume) bool {
	return s.Has(v.Ordinal) || slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Ordinal == v.Ordinal })
}

// usesVolumes are the components whose pods have a member's volume, or may have.
var usesVolumes = map[string]bool{dbv1.ComponentDatabase: true, dbv1.ComponentBackup: true, dbv1.ComponentRestore: true}

// UsesVolume reports whether a pod runs that uses a member's volume, or may use one.
func UsesVolume(b state.Bystander) bool { return usesVolumes[b.Component] && !b.Ended }

// previousUser ignores members without a controller: they continue as members of this cluster, with their volumes.
func (s *Situation) previousUser() string {
	for _, b := range s.Bystanders {
		orphan := b.Orphan && b.Component == dbv1.ComponentDatabase
		if UsesVolume(b) && b.Cluster != s.Cluster.UID && b.Cluster != "" && !orphan {
			return "pod " + b.Name
		}
	}
	if len(s.PreviousJobs) > 0 {
		return "Job " + s.PreviousJobs[0]
	}
	return ""
}
