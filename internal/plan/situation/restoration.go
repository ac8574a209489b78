/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Restoration is what is left to restore; there are no members yet.
type Restoration struct {
	// From is where the backup is, and ID what a restore of it into these members is called; nil and "" while that is
	// not known, or nothing is to be restored.
	From *dbv1.BackupDestination
	ID   string
	// Own are the volumes that were created for this cluster.
	Own []state.Volume
}

// restoration is nil where there is nothing left to restore: members were created before, or every volume is filled.
func (s *Situation) restoration() *Restoration {
	if !s.NotStarted() || s.restored() {
		return nil
	}
	own := func(v state.Volume) bool { return v.Cluster == s.Cluster.UID }
	r := &Restoration{From: state.SourceOf(s.Cluster, s.Restore.Backup), Own: state.Only(s.Volumes, own)}
	begun := slices.ContainsFunc(r.Own, state.Volume.IsFilling)
	asked := state.FromBackup(s.Cluster) != nil && !slices.ContainsFunc(r.Own, state.Volume.IsPlain) && !r.whole(s.Cluster.Spec.Replicas)
	if !begun && !asked {
		return nil
	}
	if r.From != nil {
		r.ID = RestoreID(s.Cluster, *r.From)
	}
	return r
}

// restored tells whether the members were once started with what was restored; the source is not read again after
// that, whatever has become of them.
func (s *Situation) restored() bool {
	before := s.Cluster.Status.Restore
	return before != nil && before.Phase == dbv1.RestoreCompleted
}

// RestoreID names a restore by all that it depends on: what another one has left is not gone on with.
func RestoreID(cluster *dbv1.DatabaseCluster, from dbv1.BackupDestination) string {
	parts := []string{from.URL, from.Endpoint, from.Region, from.CredentialsSecretName, from.ClaimName, fmt.Sprint(cluster.Spec.Replicas)}
	// Newer fields count where they are set: a restore that runs keeps its name through an upgrade of the operator.
	if from.CredentialSource != "" {
		parts = append(parts, "credentials="+string(from.CredentialSource))
	}
	if from.EncryptionSecretName != "" {
		parts = append(parts, "encryption="+from.EncryptionSecretName)
	}
	return naming.RestoreID(cluster.UID, parts...)
}

// whole tells whether every member finds its volume filled.
func (r *Restoration) whole(members int32) bool {
	filled := state.Only(r.Own, func(v state.Volume) bool { return v.Ordinal < members && v.Fill == state.Filled && !v.Terminating })
	return len(filled) == int(members)
}

// Filling are the volumes that this restore fills.
func (r *Restoration) Filling() []state.Volume {
	return state.Only(r.Own, func(v state.Volume) bool { return v.IsFilling() && v.From == r.ID })
}

// HalfRestored is a volume that a member would take up and that holds only a part of a backup: the restore into it was
// cut by the deletion of its cluster.
func (s *Situation) HalfRestored() (claim string, found bool) {
	for _, v := range s.Volumes {
		theirs := s.Restoration == nil || v.Cluster != s.Cluster.UID
		if v.IsFilling() && theirs && v.Ordinal < s.Cluster.Spec.Replicas {
			return v.Claim, true
		}
	}
	return "", false
}

// EmptyHanded tells whether the first members would not find what they are to start with.
func (s *Situation) EmptyHanded() bool {
	_, half := s.HalfRestored()
	return s.Restoration != nil || s.NotStarted() && half
}
