/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"net/netip"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// BackupFacts contains all facts that one pass read about a DatabaseBackup. A nil field does not exist, or was not
// needed. A failed read never leads to an Observed.
type BackupFacts struct {
	// At is the time of the observation.
	At time.Time
	// TransferImage is the image with the transfer binary for Jobs; "" if the operator runs without it.
	TransferImage string
	// NameServers are those outside the cluster that copies may use.
	NameServers []netip.Addr

	// Jobs are the Jobs of this backup.
	Jobs []jobs.Job
	// Basis is that of spec.cluster. For a verification, the engine is that of the backup.
	named.Basis
	// Diverged are the current engine and image of the cluster if a complete backup used others; "" if they are equal.
	Diverged string
	// Stray is a pod that may still write this backup although its Job no longer exists; "" for none.
	Stray string
	// Volumes are the claims of the cluster's members, by name; nil if nothing is backed up offline.
	Volumes map[string]state.Volume
	// Agreements are the objects with the lock of the primary; nil if nothing is backed up offline, or the engine declares no lock.
	Agreements []state.Agreement
	// Source is the claim of the next member, of members with data of their own. It is read only live, and nil otherwise.
	Source *state.Volume
	// Users are pods that use the volumes of members that are backed up offline, by claim.
	Users map[string]string
	// Fence identifies the stop of the members if the cluster is being deleted and no member can run; "" otherwise.
	Fence string

	Queue
	// Earlier is the URL of the backup to whose data this one may refer, if it starts now; "" for none.
	Earlier string
	RecoveryFacts
	// Policy is the NetworkPolicy of the copies; nil if there is none. Isolates is true if copies run that need it.
	Policy   *networkingv1.NetworkPolicy
	Isolates bool
	// Missing reports an object that the destination needs and that does not exist; "" if none is known.
	Missing string
}

// job finds a Job by its name.
func (o BackupFacts) job(name string) (task jobs.Job, exists bool) {
	return state.First(o.Jobs, func(t jobs.Job) bool { return t.Name == name })
}

// mixed reports whether the members of a cluster that is not being deleted run different images. A backup records
// one image.
func (o BackupFacts) mixed() bool {
	return o.Cluster.DeletionTimestamp == nil &&
		slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.Members[0].Image })
}

// rolling reports whether members run different images, or will when the StatefulSet has re-created one.
func (o BackupFacts) rolling() bool {
	next := slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.NextImage })
	return o.mixed() || o.Cluster.DeletionTimestamp == nil && o.NextImage != "" && next
}
