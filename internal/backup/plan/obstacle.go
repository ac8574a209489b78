/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// obstacle is the reason why a backup cannot execute its next operation; none if the text is empty.
type obstacle struct {
	text string
	// reason is that of the Stalled condition, if the user must remove the obstacle.
	reason string
	// final obstacles are never removed: the backup fails.
	final bool
}

func (o obstacle) stall() *BackupStall {
	if o.reason == "" {
		return nil
	}
	return &BackupStall{o.reason, o.text}
}

func never(format string, arguments ...any) obstacle {
	return obstacle{text: fmt.Sprintf(format, arguments...), final: true}
}

func waitFor(format string, arguments ...any) obstacle {
	return obstacle{text: fmt.Sprintf(format, arguments...)}
}

func human(reason, format string, arguments ...any) obstacle {
	return obstacle{text: fmt.Sprintf(format, arguments...), reason: reason}
}

// obstacle reports why the backup cannot start.
func (s situation) obstacle() obstacle {
	cluster := s.Cluster
	if cluster == nil {
		return human(dbv1.ReasonBackupPending, "spec.cluster: DatabaseCluster %s does not exist: create it, or delete this DatabaseBackup",
			s.backup.Spec.Cluster)
	}
	if made := createdFor(s.backup); made != "" && made != string(cluster.UID) {
		return never("it was created for the previous DatabaseCluster %s, which no longer exists", cluster.Name)
	}
	if o := s.unable(); o.text != "" {
		return o
	}
	if s.Predecessor != "" {
		return s.queued()
	}
	if s.age() < startDelay {
		return waitFor("about to start")
	}
	_, _, o := s.access(0)
	return o
}

// createdFor is the UID of the cluster that the operator created the backup for, if it is known. A label that a
// user wrote can only prevent a backup from starting.
func createdFor(backup *dbv1.DatabaseBackup) string {
	if origin := backup.Status.Origin; origin != nil {
		return origin.ClusterUID
	}
	return backup.Labels[dbv1.LabelClusterUID]
}

// queued reports the backup that is earlier in the queue, and the reason why that one is blocked.
func (s situation) queued() obstacle {
	text := fmt.Sprintf("waiting for DatabaseBackup %s of the same cluster, which is earlier in the queue", s.Predecessor)
	if s.Stuck != "" {
		return human(dbv1.ReasonBackupPending, "%s and is blocked: %s; or delete that DatabaseBackup", text, s.Stuck)
	}
	return waitFor("%s", text)
}

// unable reports what the cluster or the operator lacks to create backups.
func (s situation) unable() obstacle {
	at := s.destination
	switch text := s.engineProblem(); {
	case text != "":
		return human(dbv1.ReasonEngineMissing, "%s", text)
	case s.TransferImage == "":
		return human(dbv1.ReasonBackupPending,
			"the operator runs without --transfer-image, so it cannot create Jobs for backups: set the flag to the operator's own image")
	case at == nil:
		return human(dbv1.ReasonReferenceMissing,
			"there is no destination: set spec.backup.destination of DatabaseCluster %s, or create a DatabaseBackup with spec.destination",
			s.Cluster.Name)
	case state.NamesNoCredentials(at) && s.backup.Spec.Destination != nil: // stored by an earlier version, and immutable
		return human(dbv1.ReasonReferenceMissing,
			"spec.destination %s names no credentials, and is immutable: delete this DatabaseBackup, and create another one with "+
				"credentialsSecretName, or credentialSource: WorkloadIdentity", at.URL)
	case state.NamesNoCredentials(at):
		return human(dbv1.ReasonReferenceMissing,
			"spec.backup.destination %s of DatabaseCluster %s names no credentials: set its credentialsSecretName, or credentialSource: "+
				"WorkloadIdentity", at.URL, s.Cluster.Name)
	case s.AccountProblem != "":
		return human(dbv1.ReasonNameConflict, "%s", s.accountText())
	case s.Missing != "":
		return human(dbv1.ReasonReferenceMissing, "%s", s.Missing)
	default:
		return obstacle{}
	}
}

// accountText is the problem of the ServiceAccount, and its correction.
func (s situation) accountText() string {
	return fmt.Sprintf("%s: set spec.serviceAccount.name of the DatabaseCluster instead of annotations, or delete that ServiceAccount",
		s.AccountProblem)
}

func (s situation) engineProblem() string {
	name, cluster := s.Cluster.Spec.Engine, s.Cluster.Name
	switch {
	case name == "":
		return fmt.Sprintf("DatabaseCluster %s cannot be backed up without an engine: set spec.engine", cluster)
	case s.Engine == nil:
		return fmt.Sprintf("DatabaseEngine %s, which DatabaseCluster %s names in spec.engine, does not exist: create it", name, cluster)
	case s.Engine.Spec.Actions.Backup == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action backup, so DatabaseCluster %s cannot be backed up", name, cluster)
	default:
		return ""
	}
}
