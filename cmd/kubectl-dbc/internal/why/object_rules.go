/*
SPDX-License-Identifier: Apache-2.0
*/

package why

import dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

const (
	// retrying is how the message of a DatabaseBackup starts while Kubernetes repeats its Job.
	retrying = "Kubernetes retries Job"

	failedBackups   = "troubleshooting.md#a-backup-fails"
	declaredObjects = "databases-and-users.md#what-the-operator-does"
	passwords       = "databases-and-users.md#passwords"
	hibernation     = "operations.md#hibernate-and-wake"
	anObject        = "kubectl -n NS describe KIND NAME"
	theCluster      = "kubectl dbc -n NS status CLUSTER"
)

// objectRules are the rules of the kinds that name a cluster.
var objectRules = map[string][]rule{
	"Database":     declaredRules,
	"DatabaseUser": declaredRules,
	"DatabaseBackup": {
		{condition: dbv1.ConditionDeletionBlocked, bad: isTrue, page: deletions, command: anObject},
		{condition: dbv1.ConditionStalled, bad: isTrue,
			page: "troubleshooting.md#a-backup-does-not-start", command: "kubectl dbc -n NS backups CLUSTER",
			pages: map[string]string{dbv1.ReasonJobBlocked: blockedJobs, dbv1.ReasonBackupFailed: failedBackups}},
	},
	"DatabaseRestore": {
		{condition: dbv1.ConditionStalled, bad: isTrue, page: "troubleshooting.md#a-restore-waits", command: anObject},
	},
}

// declaredRules are those of Databases and DatabaseUsers.
var declaredRules = []rule{
	{condition: dbv1.ConditionStalled, bad: isTrue, page: declaredObjects, command: anObject, pages: map[string]string{
		dbv1.ReasonPasswordMissing:  passwords,
		dbv1.ReasonPasswordUnusable: passwords,
		dbv1.ReasonActionMissing:    engines,
		dbv1.ReasonFieldUnsupported: engines,
		dbv1.ReasonRefused:          "troubleshooting.md#the-api-server-refuses",
		dbv1.ReasonNameConflict:     "troubleshooting.md#two-clusters-of-one-name",
	}},
	{condition: dbv1.ConditionReady, bad: isFalse, page: declaredObjects, command: anObject, commands: map[string]string{
		dbv1.ReasonObjectPending:  theCluster,
		dbv1.ReasonClusterMissing: "kubectl -n NS get databaseclusters",
		dbv1.ReasonObjectFailed:   logsOf(dbv1.ComponentObjects),
	}},
	// The object is in force, and what it had before is lost.
	{condition: dbv1.ConditionReady, bad: isTrue, only: []string{dbv1.ReasonCreatedAgain}, page: declaredObjects, command: anObject},
}

// logsOf prints the end of the logs of Jobs.
func logsOf(component string) string {
	return "kubectl -n NS logs -l app.kubernetes.io/instance=CLUSTER,app.kubernetes.io/component=" + component + " --tail=20"
}
