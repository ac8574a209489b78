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

// Restoration is an unfinished restore, or the creation of the first data; the cluster has no members yet.
type Restoration struct {
	// From is the location of the backup, and ID identifies its restore into these members. They are nil and "" while the location
	// is unknown, or if nothing is to be restored.
	From *dbv1.BackupDestination
	ID   string
	// Search is the folder with the newest backup, while it is unknown which one that is; nil after that, and for any other source.
	Search *dbv1.BackupDestination
	// Initializes is true if the engine creates the first data instead.
	Initializes bool
	// Members is how many members get data, from ordinal 0. Members of one database copy it from the first one.
	Members int32
	// Own are the volumes that the operator created for this cluster.
	Own []state.Volume
}

// restoration is nil if nothing is left to restore: the cluster had members before, or every volume is filled.
func (s *Situation) restoration() *Restoration {
	if !s.NotStarted() || s.restored() {
		return nil
	}
	own := func(v state.Volume) bool { return v.Cluster == s.Cluster.UID }
	r := &Restoration{From: state.SourceOf(s.Cluster, s.Restore.Backup), Own: state.Only(s.Volumes, own), Members: s.Cluster.Spec.Replicas}
	if s.Related() {
		r.Members, r.Initializes = 1, state.FromBackup(s.Cluster) == nil
	}
	if !r.begun() && !(s.asksForData(r) && r.lacksData()) {
		return nil
	}
	switch {
	case r.Initializes:
		r.ID = naming.InitializeID(s.Cluster.UID)
	case r.From != nil:
		r.ID = RestoreID(s.Cluster, *r.From, r.Members)
	default:
		r.Search = state.SearchedFolder(s.Cluster)
	}
	return r
}

// asksForData reports whether the cluster starts with data that is restored or created.
func (s *Situation) asksForData(r *Restoration) bool {
	return state.FromBackup(s.Cluster) != nil || r.Initializes && s.unused()
}

// begun reports whether a volume is being filled.
func (r *Restoration) begun() bool { return slices.ContainsFunc(r.Own, state.Volume.IsFilling) }

// lacksData reports whether a volume has to be filled, and none has data of members.
func (r *Restoration) lacksData() bool {
	return !slices.ContainsFunc(r.Own, state.Volume.IsPlain) && !r.whole()
}

// unused reports whether the cluster never had members, and adopts no data. Data is created only once, whatever is lost later.
func (s *Situation) unused() bool { return s.Cluster.Status.UpdateRevision == "" && len(s.Left) == 0 }

// Known reports whether the source of the data is known.
func (r *Restoration) Known() bool { return r.From != nil || r.Initializes }

// Source is the source of the data, as claims record it; "" while it is unknown.
func (r *Restoration) Source() string {
	switch {
	case r.Initializes:
		return state.Initialized
	case r.From != nil:
		return r.From.URL
	default:
		return ""
	}
}

// restored reports whether members once started with restored volumes. After that the operator does not read the source again.
func (s *Situation) restored() bool {
	before := s.Cluster.Status.Restore
	return before != nil && before.Phase == dbv1.RestoreCompleted
}

// RestoreID identifies a restore by all its inputs. A restore with other inputs is not resumed.
func RestoreID(cluster *dbv1.DatabaseCluster, from dbv1.BackupDestination, members int32) string {
	parts := []string{from.URL, from.Endpoint, from.Region, from.CredentialsSecretName, from.ClaimName, fmt.Sprint(members)}
	// Newer fields count only if they are set: a running restore keeps its ID when the operator is upgraded.
	if from.CredentialSource != "" {
		parts = append(parts, "credentials="+string(from.CredentialSource))
	}
	if from.EncryptionSecretName != "" {
		parts = append(parts, "encryption="+from.EncryptionSecretName)
	}
	if source := state.FromBackup(cluster); source != nil && source.RecoveryTarget != nil {
		parts = append(parts, "recover="+source.RecoveryTarget.Time)
		if point := source.RecoveryTarget.Name; point != "" {
			parts = append(parts, "point="+point)
		}
	}
	return naming.RestoreID(cluster.UID, parts...)
}

// whole reports whether every volume that gets data is filled.
func (r *Restoration) whole() bool {
	filled := state.Only(r.Own, func(v state.Volume) bool { return v.Ordinal < r.Members && v.Fill == state.Filled && !v.Terminating })
	return len(filled) == int(r.Members)
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
