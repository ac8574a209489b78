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
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Observed is everything that one pass read about a DatabaseBackup. What is nil does not exist, or was not needed;
// a read that failed never leads to an Observed.
type Observed struct {
	// At is when it was read.
	At time.Time
	// TransferImage is the image that Jobs take the transfer binary from; "" when the operator was not told one.
	TransferImage string
	// NameServers are those outside of the cluster that copies may ask.
	NameServers []netip.Addr

	// Jobs are those of this backup.
	Jobs []state.Task
	// Cluster is the one of spec.cluster, with what its engine says.
	Cluster *dbv1.DatabaseCluster
	// Engine is the cluster's; for a verification the one that the backup was made with.
	Engine *dbv1.DatabaseEngine
	// Since are the engine and the image that the cluster has by now, where a backup that is complete was made with others;
	// "" where it was not.
	Since string
	// Members are the cluster's pods.
	Members []state.Member
	// Stray is a pod that may still write this backup although its Job is gone; "" for none.
	Stray string
	// Volumes are the claims of the cluster's members, by name; nil while nothing is to be backed up offline.
	Volumes map[string]state.Volume
	// Users are pods that use the volumes of members that are backed up offline, by claim.
	Users map[string]string
	// Makes is how many members the cluster's StatefulSet makes again when they are gone.
	Makes int32
	// Fence identifies the stop of the members where the cluster is being deleted and none can run; "" otherwise.
	Fence string
	// Foreign tells that this StatefulSet is somebody else's, as may be what bears the names of the cluster's claims.
	Foreign bool

	Queue
	// Policy is the NetworkPolicy around the copies; nil when there is none. PolicyRead tells that it was looked for.
	Policy     *networkingv1.NetworkPolicy
	PolicyRead bool
	// Missing says what the destination needs and does not exist; "" when nothing is known to be missing.
	Missing string
}

// job finds a Job by its name.
func (o Observed) job(name string) (task state.Task, exists bool) {
	return state.First(o.Jobs, func(t state.Task) bool { return t.Job == name })
}

// mixed tells whether the members of a cluster that is not being deleted run different images: a backup names one.
func (o Observed) mixed() bool {
	return o.Cluster.DeletionTimestamp == nil && slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.Members[0].Image })
}
