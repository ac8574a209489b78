/*
SPDX-License-Identifier: Apache-2.0
*/

package why

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// rule is a condition with the status that needs attention.
type rule struct {
	condition string
	bad       metav1.ConditionStatus
	// harmless are reasons that need no attention. If only is set, the other reasons need none.
	harmless, only []string
	// unless reports that the condition does not matter now.
	unless func(*dbv1.DatabaseCluster) bool
	// page is the page of the condition, and pages are those of reasons.
	page  string
	pages map[string]string
	// command has the placeholders NS, NAME and MEMBER, or NS, NAME, KIND and CLUSTER for other kinds. commands are those of reasons.
	command  string
	commands map[string]string
}

// matches reports whether a condition needs attention.
func (r rule) matches(c metav1.Condition) bool {
	return c.Status == r.bad && !slices.Contains(r.harmless, c.Reason) && (r.only == nil || slices.Contains(r.only, c.Reason))
}

const (
	isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse

	jobs       = "kubectl -n NS get jobs -l app.kubernetes.io/instance=NAME"
	describe   = "kubectl -n NS describe databasecluster NAME"
	aMember    = "kubectl -n NS describe pod MEMBER"
	backups    = "kubectl dbc -n NS backups NAME"
	engines    = "troubleshooting.md#the-engine-refuses-the-spec"
	deletions  = "troubleshooting.md#a-deletion-waits"
	rollouts   = "troubleshooting.md#a-rollout-is-stuck"
	references = "troubleshooting.md#a-secret-or-configmap-is-missing"
	tls        = "troubleshooting.md#a-certificate-is-refused"
	volumes    = "troubleshooting.md#volumes"

	blockedJobs = "troubleshooting.md#a-job-is-blocked"
)

// rules are in the order in which a condition explains the state. Those of Ready have the operator's order.
var rules = []rule{
	{condition: dbv1.ConditionSplitBrainSuspected, bad: isTrue, page: "troubleshooting.md#two-primaries",
		command: "kubectl -n NS get pods -l app.kubernetes.io/instance=NAME,app.kubernetes.io/component=database --show-labels"},
	{condition: dbv1.ConditionDeletionBlocked, bad: isTrue, page: "runbooks/DatabaseClusterDeletionBlocked.md", command: describe},
	{condition: dbv1.ConditionStalled, bad: isTrue, unless: isDeleting,
		page: "runbooks/DatabaseClusterStalled.md", pages: stalled, command: describe},
	{condition: dbv1.ConditionDegraded, bad: isTrue, unless: isDeleting, page: "runbooks/DatabaseClusterDegraded.md", command: aMember},
	{condition: dbv1.ConditionProgressing, bad: isTrue,
		harmless: []string{dbv1.ReasonRolloutPaused, dbv1.ReasonWaitingForUser, dbv1.ReasonHibernating},
		page:     "runbooks/DatabaseClusterRolloutStuck.md", pages: progressing, command: describe},
	{condition: dbv1.ConditionAvailable, bad: isFalse, harmless: []string{dbv1.ReasonHibernated, dbv1.ReasonHibernating},
		page: "runbooks/DatabaseClusterNotAvailable.md", pages: unavailable, command: aMember},
	{condition: dbv1.ConditionReady, bad: isFalse, page: "runbooks/DatabaseClusterNotAvailable.md", command: aMember},
	{condition: dbv1.ConditionTLSReady, bad: isFalse, harmless: []string{dbv1.ReasonNoTLS}, page: tls, command: describe},
	{condition: dbv1.ConditionBackupHealthy, bad: isFalse, page: "runbooks/DatabaseClusterBackupUnhealthy.md", command: backups},
	{condition: dbv1.ConditionContinuousArchiving, bad: isFalse, harmless: []string{dbv1.ReasonHibernated, dbv1.ReasonArchiveStarting},
		page: "runbooks/DatabaseClusterArchiveBehind.md", command: "kubectl -n NS logs deployment/NAME-archive --tail=20"},
	{condition: dbv1.ConditionBackupVerified, bad: isFalse, page: "runbooks/DatabaseClusterBackupVerificationFailed.md",
		command: backups},
	{condition: dbv1.ConditionCredentialsRotated, bad: isFalse, harmless: []string{dbv1.ReasonRotating}, page: rollouts, command: jobs},
	{condition: dbv1.ConditionProtectionEnforced, bad: isFalse, harmless: []string{dbv1.ReasonNotProtected},
		page: "deletion.md#protect-a-cluster", command: "kubectl get validatingadmissionpolicies"},
	{condition: dbv1.ConditionMonitoringConfigured, bad: isFalse, harmless: []string{dbv1.ReasonMonitoringPending},
		page: "monitoring.md#metrics-of-the-database", command: describe},
	{condition: dbv1.ConditionDiskPressure, bad: isTrue, harmless: []string{dbv1.ReasonGrowing, dbv1.ReasonCooldown},
		page: "troubleshooting.md#a-volume-fills", command: describe},
	{condition: dbv1.ConditionAutoResizeActive, bad: isFalse, harmless: []string{dbv1.ReasonAutoResizeRemoved},
		page: "operations.md#let-cpu-and-memory-follow-their-use", command: describe},
	{condition: dbv1.ConditionEvictionBlocked, bad: isTrue, page: "operations.md#drain-a-node",
		command: "kubectl -n NS get poddisruptionbudgets"},
}

func isDeleting(cluster *dbv1.DatabaseCluster) bool { return cluster.DeletionTimestamp != nil }

// stalled, progressing and unavailable are the sections of troubleshooting.md for reasons.
var (
	stalled = map[string]string{
		dbv1.ReasonNameConflict:           "troubleshooting.md#two-clusters-of-one-name",
		dbv1.ReasonRefused:                "troubleshooting.md#the-api-server-refuses",
		dbv1.ReasonReferenceMissing:       references,
		dbv1.ReasonSecretIncomplete:       references,
		dbv1.ReasonInvalidEngine:          engines,
		dbv1.ReasonEngineMissing:          engines,
		dbv1.ReasonEngineIncompatible:     engines,
		dbv1.ReasonInvalidReplicas:        engines,
		dbv1.ReasonInvalidParameter:       engines,
		dbv1.ReasonActionMissing:          engines,
		dbv1.ReasonTLSUnsupported:         engines,
		dbv1.ReasonFieldUnsupported:       engines,
		dbv1.ReasonCertificateInvalid:     tls,
		dbv1.ReasonCertManagerMissing:     tls,
		dbv1.ReasonCertificateNotIssued:   tls,
		dbv1.ReasonReloadFailed:           tls,
		dbv1.ReasonInitializeFailed:       rollouts,
		dbv1.ReasonConfigureFailed:        rollouts,
		dbv1.ReasonRotationFailed:         rollouts,
		dbv1.ReasonVolumeLost:             "troubleshooting.md#a-volume-with-data-is-lost",
		dbv1.ReasonTwoPrimaries:           "troubleshooting.md#two-primaries",
		dbv1.ReasonRestoreFailed:          "troubleshooting.md#a-restore-waits",
		dbv1.ReasonJobBlocked:             blockedJobs,
		dbv1.ReasonVolumeConflict:         "troubleshooting.md#volumes-of-a-previous-cluster",
		dbv1.ReasonResizeInfeasible:       volumes,
		dbv1.ReasonModifyInfeasible:       volumes,
		dbv1.ReasonServiceAccountReplaced: "troubleshooting.md#manual-changes",
		dbv1.ReasonProtected:              "deletion.md#protect-a-cluster",
		dbv1.ReasonHookWaiting:            deletions,
		dbv1.ReasonHookFailed:             deletions,
	}
	progressing = map[string]string{
		dbv1.ReasonRestoring:                 "runbooks/DatabaseClusterRestoreSlow.md",
		dbv1.ReasonRestoreRetrying:           "troubleshooting.md#a-restore-waits",
		dbv1.ReasonResizingStorage:           "runbooks/DatabaseClusterStorageResizeStuck.md",
		dbv1.ReasonModifyingStorage:          volumes,
		dbv1.ReasonWaitingForVolume:          volumes,
		dbv1.ReasonWaitingForReference:       references,
		dbv1.ReasonWaitingForPreviousCluster: "troubleshooting.md#two-clusters-of-one-name",
		dbv1.ReasonRetrying:                  operatorPage,
		dbv1.ReasonDeleting:                  deletions,
		dbv1.ReasonTerminating:               deletions,
		dbv1.ReasonHookRunning:               deletions,
		dbv1.ReasonPaused:                    "operations.md#pause",
	}
	unavailable = map[string]string{
		dbv1.ReasonNoPrimary:     "troubleshooting.md#no-primary",
		dbv1.ReasonWritesRefused: "troubleshooting.md#writes-are-refused",
	}
)
