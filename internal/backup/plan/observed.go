/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"net/netip"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
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
	// Cluster is the effective cluster of spec.cluster.
	Cluster *dbv1.DatabaseCluster
	// Engine is the cluster's engine; for a verification, the engine of the backup.
	Engine *dbv1.DatabaseEngine
	// Diverged are the current engine and image of the cluster if a complete backup used others; "" if they are equal.
	Diverged string
	// Members are the cluster's pods.
	Members []state.Member
	// Fresh are the replicas that are known to have nearly all data of the primary. Their reports change every few seconds, so no
	// change of them starts a pass.
	Fresh []string
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
	// Extent are the members that the cluster's StatefulSet runs.
	Extent state.Extent
	// EndOrdinal is the ordinal after the last member that the cluster's StatefulSet re-creates.
	EndOrdinal int32
	// NextImage is the image of a member that the StatefulSet re-creates now, because it is missing or terminating; "" for none.
	NextImage string
	// Abandoned is true if this StatefulSet does not exist or is terminating: Kubernetes is about to stop the pods that it controls.
	Abandoned bool
	// Fence identifies the stop of the members if the cluster is being deleted and no member can run; "" otherwise.
	Fence string
	// Foreign is true if this StatefulSet has another owner. Then claims with the names of the cluster's claims may
	// have that owner, too.
	Foreign bool

	Queue
	// Policy is the NetworkPolicy of the copies; nil if there is none. Isolates is true if copies run that need it.
	Policy   *networkingv1.NetworkPolicy
	Isolates bool
	// AccountProblem is why no Job may run as the ServiceAccount that the operator creates for the cluster; "" if Jobs may.
	AccountProblem string
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
	return o.Cluster.DeletionTimestamp == nil && slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.Members[0].Image })
}

// rolling reports whether members run different images, or will when the StatefulSet has re-created one.
func (o BackupFacts) rolling() bool {
	next := slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.NextImage })
	return o.mixed() || o.Cluster.DeletionTimestamp == nil && o.NextImage != "" && next
}
