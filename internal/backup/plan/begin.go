/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// startDelay is the age at which a backup can start: after it, no backup with an earlier creation time can appear.
const startDelay = 2 * time.Second

// begin records the data that the backup needs later, even if the cluster changes; or reports the reason to wait.
func (s situation) begin(p BackupPlan) BackupPlan {
	switch o := s.obstacle(); {
	case o.final:
		return s.fail(p, o.text)
	case o.text != "" && s.waited(0):
		return s.fail(p, fmt.Sprintf("the backup could not start within %s: %s", backupAction.Deadline(s.Cluster), o.text))
	case o.text != "":
		return s.pending(p, o)
	default:
		return s.start(p)
	}
}

// pending waits for the queue, or for missing preconditions. No Job exists yet.
func (s situation) pending(p BackupPlan, o obstacle) BackupPlan {
	p.Status.Phase, p.Stalled = dbv1.BackupPending, o.stall()
	if left := startDelay - s.age(); left > 0 {
		return p.running(o.text).in(left)
	}
	return p.running(o.text).in(waitRequeueAfter)
}

func (s situation) age() time.Duration { return s.At.Sub(s.backup.CreationTimestamp.Time) }

func (s situation) start(p BackupPlan) BackupPlan {
	at, cluster, is := s.destination.DeepCopy(), s.Cluster, &p.Status
	is.Phase, is.Destination, is.Location = dbv1.BackupRunning, at, location(s.backup, at.URL)
	is.ClusterUID, is.Engine, is.Image, is.Replicas = string(cluster.UID), cluster.Spec.Engine, cluster.Spec.Image, s.streams()
	is.VolumeClaimTemplate, is.Reuses = templateOf(cluster), ""
	if reuses(cluster) && s.Fence == "" { // the last backup of a cluster depends on no older data
		is.Reuses = s.Earlier
	}
	is.ServiceAccountName, is.Fence = pods.ServiceAccountName(cluster), s.Fence
	is.StartTime, is.Streams = &metav1.Time{Time: s.At}, nil
	return s.withFinalizer(p).running("starting")
}

// streams is how many members have data of their own: of members with one database, any one has all of it.
func (s situation) streams() int32 {
	if engine.Related(s.Engine) {
		return 1
	}
	return s.Cluster.Spec.Replicas
}

// withFinalizer adds the operator's finalizer if it is missing.
func (s situation) withFinalizer(p BackupPlan) BackupPlan {
	if s.hasFinalizer {
		return p
	}
	return p.do(operation.AddFinalizer())
}

// location is the URL of one backup. It contains the UID, so no other backup has the same URL.
func location(backup *dbv1.DatabaseBackup, base string) string {
	return protocol.FolderOf(base, backup.Namespace, backup.Spec.Cluster) + backup.Name + "-" + naming.Short(backup.UID)
}
