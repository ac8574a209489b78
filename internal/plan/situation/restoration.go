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

// Restoration is an unfinished restore; the cluster has no members yet.
type Restoration struct {
	// From is the location of the backup, and ID identifies its restore into these members. They are nil and "" while the location
	// is unknown, or if nothing is to be restored.
	From *dbv1.BackupDestination
	ID   string
	// Own are the volumes that the operator created for this cluster.
	Own []state.Volume
}

// restoration is nil if nothing is left to restore: the cluster had members before, or every volume is filled.
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

// restored reports whether members once started with restored volumes. After that the operator does not read the source again.
func (s *Situation) restored() bool {
	before := s.Cluster.Status.Restore
	return before != nil && before.Phase == dbv1.RestoreCompleted
}

// RestoreID identifies a restore by all its inputs. A restore with other inputs is not resumed.
func RestoreID(cluster *dbv1.DatabaseCluster, from dbv1.BackupDestination) string {
	parts := []string{from.URL, from.Endpoint, from.Region, from.CredentialsSecretName, from.ClaimName, fmt.Sprint(cluster.Spec.Replicas)}
	// Newer fields count only if they are set: a running restore keeps its ID when the operator is upgraded.
	if from.CredentialSource != "" {
		parts = append(parts, "credentials="+string(from.CredentialSource))
	}
	if from.EncryptionSecretName != "" {
		parts = append(parts, "encryption="+from.EncryptionSecretName)
	}
	return naming.RestoreID(cluster.UID, parts...)
}

// whole reports whether every member has a filled volume.
func (r *Restoration) whole(members int32) bool {
	filled := state.Only(r.Own, func(v state.Volume) bool { return v.Ordinal < members && v.Fill == state.Filled && !v.Terminating })
	return len(filled) == int(members)
}

// Filling returns the volumes that this restore fills.
func (r *Restoration) Filling() []state.Volume {
	return state.Only(r.Own, func(v state.Volume) bool { return v.IsFilling() && v.From == r.ID })
}

// HalfRestored returns a volume that a member would use and that contains only part of a backup, because the deletion of its
// cluster interrupted the restore.
func (s *Situation) HalfRestored() (claim string, found bool) {
	for _, v := range s.Volumes {
		theirs := s.Restoration == nil || v.Cluster != s.Cluster.UID
		if v.IsFilling() && theirs && v.Ordinal < s.Cluster.Spec.Replicas {
			return v.Claim, true
		}
	}
	return "", false
}

// EmptyHanded reports whether the first members would start without their restored data.
func (s *Situation) EmptyHanded() bool {
	_, half := s.HalfRestored()
	return s.Restoration != nil || s.NotStarted() && half
}
