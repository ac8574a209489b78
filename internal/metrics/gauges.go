/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// gauge is one metric, with one or more series for each object of a kind.
type gauge[T any] struct {
	name, help  string
	labels      []string
	description *prometheus.Desc
	samples     func(T) []sample
}

// sample is the value of a series, and its labels without the namespace and the name of the object.
type sample struct {
	value  float64
	labels []string
}

const leadingName, leadingHelp = "databasecluster_operator_leading", "1 from the replica of the operator that is the leader."

var leading = prometheus.NewDesc(leadingName, leadingHelp, nil, nil)

// gauges are the metrics of a cluster. A name follows the path of the field in the DatabaseCluster. A value that changes
// without a pass has no field: it would be old in the status. Values without a bound must not be labels, because each
// new value creates a series.
var gauges = []gauge[subject]{
	several("info", "The cluster's image and type of update strategy; always 1.", []string{"image", "update_strategy_type"}, info),
	number("metadata_generation", "Generation of the spec.", func(c *dbv1.DatabaseCluster) int64 { return c.Generation }),
	several("deletion_timestamp_seconds", "Unix time of the deletion request, in seconds. Absent while the cluster is not being deleted.", nil,
		func(c *dbv1.DatabaseCluster) []sample { return since1970(c.DeletionTimestamp) }),

	number("spec_replicas", "Desired number of members in spec.replicas.", func(c *dbv1.DatabaseCluster) int32 { return c.Spec.Replicas }),
	flag("spec_paused", "1 while spec.paused is true: the operator changes nothing.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.Paused }),
	flag("spec_hibernated", "1 while spec.hibernated is true: no member should run.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.Hibernated }),
	flag("spec_update_strategy_paused", "1 while spec.updateStrategy.paused is true: rollouts are paused.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.UpdateStrategy.Paused }),

	number("status_observed_generation", "Generation of the spec that the operator has applied to the cluster's objects.",
		func(c *dbv1.DatabaseCluster) int64 { return c.Status.ObservedGeneration }),
	number("status_replicas", "Members that exist.", func(c *dbv1.DatabaseCluster) int32 { return c.Status.Replicas }),
	number("status_ready_replicas", "Members that are ready.", func(c *dbv1.DatabaseCluster) int32 { return c.Status.ReadyReplicas }),
	number("status_updated_replicas", "Members that run the current template.",
		func(c *dbv1.DatabaseCluster) int32 { return c.Status.UpdatedReplicas }),
	number("status_outdated_replicas", "Members that do not run the current template.", outdated),
	several("status_member_ready", "1 for each member that is ready, 0 for each other existing member.", []string{"pod"}, members),
	several("status_condition",
		"1 for the current status of a condition, 0 for the other status. Absent while the cluster does not have the condition.",
		[]string{"type", "status"}, conditions),
	several("status_unwritable", "1 while no client can write: no member is the primary, too few members are ready for a majority, or the "+
		"database refuses writes. Absent otherwise.", nil, unwritable),
	several("status_storage_requested_bytes", "Largest size that a member's PersistentVolumeClaim requests. Absent without claims.", nil,
		requested),
	several("status_storage_capacity_bytes", "Size of the smallest volume of a member. Absent while no volume is bound.", nil, capacity),
	several("status_tls_not_after_timestamp_seconds", "Unix time at which the certificate of the members, or one of its CAs, expires, in "+
		"seconds. Absent without spec.tls, and while the certificate cannot be read.",
		nil, expiry),
	several("status_restore_running", "1 while a backup is being restored: no member runs before the restore is complete. Absent otherwise, "+
		"also while spec.paused stops the restore.", nil, restoring),
	several("status_backup_last_completion_time_seconds",
		"Unix time at which the newest complete backup was completed, in seconds. Absent without a complete backup.",
		nil, backup(func(b *dbv1.ClusterBackupStatus) []sample { return since1970(b.LastCompletionTime) })),
	several("status_backup_last_completed_bytes",
		"Size of the newest complete backup before compression, in bytes. Absent without a complete backup.",
		nil, backup(completedBytes)),
	several("status_backup_last_verification_time_seconds",
		"Unix time of the last successful verification of a backup, in seconds. Absent without a successful verification.",
		nil, backup(func(b *dbv1.ClusterBackupStatus) []sample { return since1970(b.LastVerificationTime) })),
	several("status_backup_last_recovery_time_seconds",
		"Unix time of the last successful verification with a recovery to a moment after the backup, in seconds. Absent without one.",
		nil, backup(func(b *dbv1.ClusterBackupStatus) []sample { return since1970(b.LastRecoveryTime) })),
	several("status_backup_last_recovery_duration_seconds",
		"Time that the restore and the recovery of that verification took, in seconds. Absent without one.",
		nil, backup(recoveryDuration)),
	several("status_backup_last_recovery_lag_seconds",
		"Time by which the archive was behind at the start of the last recovery to its end, in seconds. Absent without one.",
		nil, backup(recoveryLag)),

	observed("member_lag_bytes", "Bytes of the log of changes that the primary has reported and the replica has not. Absent for the "+
		"primary, and while one of the two positions is unknown.",
		[]string{"pod"}, lags),
}

func gaugeOf[T any](name, help string, labels []string, samples func(T) []sample) gauge[T] {
	labels = append([]string{"namespace", "name"}, labels...)
	return gauge[T]{name, help, labels, prometheus.NewDesc(name, help, labels, nil), samples}
}

func observed(name, help string, labels []string, samples func(subject) []sample) gauge[subject] {
	return gaugeOf("databasecluster_"+name, help, labels, samples)
}

func several(name, help string, labels []string, samples func(*dbv1.DatabaseCluster) []sample) gauge[subject] {
	return observed(name, help, labels, func(s subject) []sample { return samples(s.DatabaseCluster) })
}

func number[N int32 | int64](name, help string, value func(*dbv1.DatabaseCluster) N) gauge[subject] {
	return several(name, help, nil, func(c *dbv1.DatabaseCluster) []sample { return one(float64(value(c))) })
}

func flag(name, help string, value func(*dbv1.DatabaseCluster) bool) gauge[subject] {
	return several(name, help, nil, func(c *dbv1.DatabaseCluster) []sample { return one(truth(value(c))) })
}

func one(value float64) []sample { return []sample{{value: value}} }

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func info(c *dbv1.DatabaseCluster) []sample {
	return []sample{{1, []string{c.Spec.Image, string(c.Spec.UpdateStrategy.Type)}}}
}

func outdated(c *dbv1.DatabaseCluster) int32 {
	var count int32
	for _, m := range c.Status.Members {
		if m.Outdated {
			count++
		}
	}
	return count
}

func members(c *dbv1.DatabaseCluster) []sample {
	all := make([]sample, 0, len(c.Status.Members))
	for _, m := range c.Status.Members {
		all = append(all, sample{truth(m.Ready), []string{m.Pod}})
	}
	return all
}

func lags(s subject) []sample {
	var all []sample
	for _, lag := range state.Lags(s.DatabaseCluster, s.engine, s.pods) {
		all = append(all, sample{float64(lag.Bytes), []string{lag.Pod}})
	}
	return all
}

func conditions(c *dbv1.DatabaseCluster) []sample {
	return samplesOf(c.Status.Conditions, dbv1.ClusterConditions)
}

// samplesOf are those of the conditions of the operator. Conditions of other writers have no series. Both series are 0 while a
// condition is Unknown, as before the first backup.
func samplesOf(conditions []metav1.Condition, kinds []string) []sample {
	all := make([]sample, 0, 2*len(kinds))
	for _, kind := range kinds {
		found := meta.FindStatusCondition(conditions, kind)
		if found == nil {
			continue
		}
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse} {
			all = append(all, sample{truth(found.Status == status), []string{kind, string(status)}})
		}
	}
	return all
}

func unwritable(c *dbv1.DatabaseCluster) []sample {
	available := meta.FindStatusCondition(c.Status.Conditions, dbv1.ConditionAvailable)
	if available == nil || available.Status != metav1.ConditionFalse || !slices.Contains(writeless, available.Reason) {
		return nil
	}
	return one(1)
}

// writeless are the reasons of Available with which the whole database takes no write, although the user did not ask for that.
var writeless = []string{dbv1.ReasonNoPrimary, dbv1.ReasonNoMajority, dbv1.ReasonWritesRefused}

func restoring(c *dbv1.DatabaseCluster) []sample {
	progressing := meta.FindStatusCondition(c.Status.Conditions, dbv1.ConditionProgressing)
	if progressing == nil || progressing.Reason != dbv1.ReasonRestoring && progressing.Reason != dbv1.ReasonRestoreRetrying {
		return nil
	}
	return one(1)
}

func expiry(c *dbv1.DatabaseCluster) []sample {
	if c.Status.TLS == nil {
		return nil
	}
	return since1970(c.Status.TLS.NotAfter)
}

func requested(c *dbv1.DatabaseCluster) []sample {
	if c.Status.Storage == nil {
		return nil
	}
	return one(bytes(c.Status.Storage.Requested))
}

func capacity(c *dbv1.DatabaseCluster) []sample {
	if c.Status.Storage == nil || c.Status.Storage.Capacity == nil {
		return nil
	}
	return one(bytes(*c.Status.Storage.Capacity))
}

// backup reads the status of the backups, which is empty if the spec has none.
func backup(read func(*dbv1.ClusterBackupStatus) []sample) func(*dbv1.DatabaseCluster) []sample {
	return func(c *dbv1.DatabaseCluster) []sample {
		if c.Status.Backup == nil {
			return nil
		}
		return read(c.Status.Backup)
	}
}

func completedBytes(b *dbv1.ClusterBackupStatus) []sample {
	if b.LastCompletedBackup == "" {
		return nil
	}
	return one(float64(b.LastCompletedBytes))
}

func recoveryDuration(b *dbv1.ClusterBackupStatus) []sample {
	if b.LastRecoveryTime == nil {
		return nil
	}
	return one(float64(b.LastRecoveryDurationSeconds))
}

func recoveryLag(b *dbv1.ClusterBackupStatus) []sample {
	if b.LastRecoveryLagSeconds == nil {
		return nil
	}
	return one(float64(*b.LastRecoveryLagSeconds))
}

func since1970(at *metav1.Time) []sample {
	if at == nil {
		return nil
	}
	return one(float64(at.Unix()))
}

func bytes(quantity resource.Quantity) float64 { return quantity.AsApproximateFloat64() }
