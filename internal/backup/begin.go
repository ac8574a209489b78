/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// settled is how old a backup is when it starts: from then on none can come that was created before it.
const settled = 2 * time.Second

// begin notes what the backup needs from now on, whatever becomes of the cluster; or says what it waits for.
func (p *Plan) begin(backup *dbv1.DatabaseBackup, observed Observed) {
	p.Status.Phase = dbv1.BackupPending
	switch wait := p.obstacle(backup, observed); {
	case p.Status.Phase == dbv1.BackupFailed:
	case wait != "" && waited(backup, observed, 0):
		p.fail(observed, fmt.Sprintf("it could not start within %s: %s", deadline(observed.Cluster), wait))
	case wait != "":
		p.Status.Message, p.Why, p.Again = wait, wait, waitingAgain
		if left := settled - age(backup, observed); left > 0 {
			p.Again = left
		}
	default:
		p.start(backup, observed)
	}
}

func age(backup *dbv1.DatabaseBackup, observed Observed) time.Duration {
	return observed.At.Sub(backup.CreationTimestamp.Time)
}

func (p *Plan) start(backup *dbv1.DatabaseBackup, observed Observed) {
	cluster := observed.Cluster
	at := destination(backup, cluster).DeepCopy()
	p.AddFinalizer = !held(backup)
	s := &p.Status
	s.Phase, s.Destination, s.Location = dbv1.BackupRunning, at, location(backup, at.URL)
	s.ClusterUID, s.Engine, s.Image, s.Members = string(cluster.UID), cluster.Spec.Engine, cluster.Spec.Image, cluster.Spec.Replicas
	s.Fence = observed.Fence
	s.StartTime, s.Streams = &metav1.Time{Time: observed.At}, nil
	s.Message = "starting"
	p.Why = s.Message
}

// location is the URL of one backup. No other bears the UID.
func location(backup *dbv1.DatabaseBackup, base string) string {
	return fmt.Sprintf("%s/%s/%s/%s-%s", strings.TrimSuffix(base, "/"),
		backup.Namespace, backup.Spec.Cluster, backup.Name, naming.Short(backup.UID))
}

func destination(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	switch {
	case backup.Spec.Destination != nil:
		return backup.Spec.Destination
	case cluster != nil && cluster.Spec.Backup != nil:
		return &cluster.Spec.Backup.Destination
	default:
		return nil
	}
}

// place is where the data of the backup is, or will be. Where that was noted without credentials, as was possible once,
// those count that the same destination names now.
func place(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	noted, now := backup.Status.Destination, destination(backup, cluster)
	switch {
	case noted == nil:
		return now
	case now != nil && state.NamesNoCredentials(noted) && now.URL == noted.URL && now.Endpoint == noted.Endpoint:
		return now
	default:
		return noted
	}
}

// obstacle says what keeps the backup from starting; "" for nothing. What only a human can change is noted as
// Stalled, what nobody can as failure.
func (p *Plan) obstacle(backup *dbv1.DatabaseBackup, observed Observed) string {
	cluster := observed.Cluster
	if cluster == nil {
		return p.stall(dbv1.ReasonBackupPending, fmt.Sprintf(
			"spec.cluster: DatabaseCluster %s does not exist: create it, or delete this DatabaseBackup", backup.Spec.Cluster))
	}
	if made := createdFor(backup); made != "" && made != string(cluster.UID) {
		return p.fail(observed, fmt.Sprintf("it was made for an earlier DatabaseCluster %s, which is gone", cluster.Name))
	}
	if text := p.unable(backup, observed); text != "" {
		return text
	}
	if observed.Before != "" {
		return p.queued(observed)
	}
	if age(backup, observed) < settled {
		return "about to start"
	}
	way, text := reach(observed, 0)
	if way == never {
		return p.fail(observed, text)
	}
	return text
}

// createdFor is the UID of the cluster that the operator created the backup for, as far as that is known. A label that a
// user wrote can keep a backup from starting, and do no more.
func createdFor(backup *dbv1.DatabaseBackup) string {
	if origin := backup.Status.Origin; origin != nil {
		return origin.ClusterUID
	}
	return backup.Labels[dbv1.LabelClusterUID]
}

// yield lets an earlier one go first that started at the same moment: no Job is made yet. Where the data is to go stays
// noted, for a deletion.
func (p *Plan) yield(wait string) {
	p.Status.Phase, p.Status.StartTime = dbv1.BackupPending, nil
	p.Status.Message, p.Why, p.Again = wait, wait, waitingAgain
}

// queued names the backup that goes first, and what keeps it.
func (p *Plan) queued(observed Observed) string {
	text := fmt.Sprintf("waiting for DatabaseBackup %s of the same cluster, which goes first", observed.Before)
	if observed.Stuck != "" {
		return p.stall(dbv1.ReasonBackupPending, fmt.Sprintf("%s and does not get on: %s; or delete that DatabaseBackup", text, observed.Stuck))
	}
	return text
}

// unable says what the cluster or the operator lacks to make backups.
func (p *Plan) unable(backup *dbv1.DatabaseBackup, observed Observed) string {
	at := destination(backup, observed.Cluster)
	switch text := engineProblem(observed); {
	case text != "":
		return p.stall(dbv1.ReasonEngineMissing, text)
	case observed.TransferImage == "":
		return p.stall(dbv1.ReasonBackupPending, "the operator was started without --transfer-image, so it can make no Jobs for backups: set it to the operator's own image")
	case at == nil:
		return p.stall(dbv1.ReasonReferenceMissing, fmt.Sprintf(
			"there is no destination: set spec.backup.destination of DatabaseCluster %s, or create a DatabaseBackup with spec.destination", observed.Cluster.Name))
	case state.NamesNoCredentials(at) && backup.Spec.Destination != nil: // an earlier version stored it, and nobody can change it
		return p.stall(dbv1.ReasonReferenceMissing, fmt.Sprintf(
			"spec.destination %s names no credentials, and cannot be changed: delete this DatabaseBackup, and create another one with "+
				"credentialsSecretName, or credentials: WorkloadIdentity", at.URL))
	case state.NamesNoCredentials(at):
		return p.stall(dbv1.ReasonReferenceMissing, fmt.Sprintf(
			"the destination %s names no credentials: set its credentialsSecretName, or credentials: WorkloadIdentity", at.URL))
	case observed.Missing != "":
		return p.stall(dbv1.ReasonReferenceMissing, observed.Missing)
	default:
		return ""
	}
}

func engineProblem(observed Observed) string {
	name := observed.Cluster.Spec.Engine
	switch {
	case name == "":
		return fmt.Sprintf("DatabaseCluster %s names no engine in spec.engine, and only engines know how to make backups", observed.Cluster.Name)
	case observed.Engine == nil:
		return fmt.Sprintf("DatabaseEngine %s, which DatabaseCluster %s names in spec.engine, does not exist: create it", name, observed.Cluster.Name)
	case observed.Engine.Spec.Actions.Backup == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action backup: DatabaseCluster %s can have no backups with it", name, observed.Cluster.Name)
	default:
		return ""
	}
}

// stall notes what waits for a human.
func (p *Plan) stall(reason, text string) string {
	p.Stalled = &Stall{reason, text}
	return text
}

const defaultDeadlineSeconds = 43200

// deadline is how long each member's backup may take.
func deadline(cluster *dbv1.DatabaseCluster) time.Duration {
	seconds := int64(defaultDeadlineSeconds)
	if cluster != nil && cluster.Spec.Backup != nil && cluster.Spec.Backup.DeadlineSeconds > 0 {
		seconds = cluster.Spec.Backup.DeadlineSeconds
	}
	return time.Duration(seconds) * time.Second
}

// patience is until when a member's backup has to have started: what one member does not use of its time the next
// may.
func patience(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) time.Time {
	since := observed.Turn
	if backup.Status.StartTime != nil {
		since = backup.Status.StartTime.Time
	}
	return since.Add(deadline(observed.Cluster) * time.Duration(ordinal+1))
}

// waited tells whether a member has been waited for too long. While another goes first nothing is waited for but that,
// which has a deadline of its own.
func waited(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) bool {
	return observed.Before == "" && observed.At.After(patience(backup, observed, ordinal))
}
