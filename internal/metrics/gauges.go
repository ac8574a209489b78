/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// gauge is one metric, with a series or several for each cluster.
type gauge struct {
	name, help  string
	labels      []string
	description *prometheus.Desc
	samples     func(*dbv1.DatabaseCluster) []sample
}

// sample is the value of a series, and its labels but for the cluster's namespace and name.
type sample struct {
	value  float64
	labels []string
}

const leadingName, leadingHelp = "databasecluster_operator_leading", "1 from the replica of the operator that works."

var leading = prometheus.NewDesc(leadingName, leadingHelp, nil, nil)

// gauges are the metrics of a cluster. A name follows the path of the field in the DatabaseCluster, so that it need
// not be looked up. What has as many values as people can think of is no label: each new value is a new series.
var gauges = []gauge{
	several("info", "The cluster's image and who restarts its members; always 1.", []string{"image", "update_type"}, info),
	number("metadata_generation", "Generation of the spec.", func(c *dbv1.DatabaseCluster) int64 { return c.Generation }),
	several("deletion_timestamp_seconds", "When the deletion was asked for, in seconds since 1970. Absent unless it was.", nil,
		func(c *dbv1.DatabaseCluster) []sample { return since1970(c.DeletionTimestamp) }),

	number("spec_replicas", "Members that the spec asks for.", func(c *dbv1.DatabaseCluster) int32 { return c.Spec.Replicas }),
	flag("spec_paused", "1 while spec.paused keeps the operator from changing anything.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.Paused }),
	flag("spec_hibernated", "1 while spec.hibernated asks for no member to run.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.Hibernated }),
	flag("spec_update_paused", "1 while spec.updateStrategy.paused stops rollouts.",
		func(c *dbv1.DatabaseCluster) bool { return c.Spec.UpdateStrategy.Paused }),

	number("status_observed_generation", "Generation of the spec that the cluster's objects express.",
		func(c *dbv1.DatabaseCluster) int64 { return c.Status.ObservedGeneration }),
	number("status_replicas", "Members that exist.", func(c *dbv1.DatabaseCluster) int32 { return c.Status.Replicas }),
	number("status_ready_replicas", "Members that are ready.", func(c *dbv1.DatabaseCluster) int32 { return c.Status.ReadyReplicas }),
	number("status_updated_replicas", "Members that run the current template.",
		func(c *dbv1.DatabaseCluster) int32 { return c.Status.UpdatedReplicas }),
	number("status_outdated_replicas", "Members that do not run the current template.", outdated),
	several("status_member_ready", "1 for each member that is ready, 0 for each other that exists.", []string{"pod"}, members),
	several("status_condition", "1 for the status that a condition has, 0 for the other. Absent while the cluster does not have the condition.",
		[]string{"type", "status"}, conditions),
	several("status_storage_requested_bytes", "Smallest size that a claim of a member asks for. Absent while there is none.", nil, requested),
	several("status_storage_capacity_bytes", "Size of the smallest volume of a member. Absent while none is bound.", nil, capacity),
	several("status_backup_last_completion_time_seconds", "When the newest complete backup was complete, in seconds since 1970. Absent while there is none.",
		nil, backup(func(b *dbv1.ClusterBackupStatus) []sample { return since1970(b.LastCompletionTime) })),
	several("status_backup_last_completed_bytes", "How much the database gave for the newest complete backup, before compression. Absent while there is none.",
		nil, backup(completedBytes)),
	several("status_backup_last_verification_time_seconds", "When the last restore of a backup into a throw-away copy answered, in seconds since 1970. Absent while none has.",
		nil, backup(func(b *dbv1.ClusterBackupStatus) []sample { return since1970(b.LastVerificationTime) })),
}

func several(name, help string, labels []string, samples func(*dbv1.DatabaseCluster) []sample) gauge {
	name, labels = "databasecluster_"+name, append([]string{"namespace", "name"}, labels...)
	return gauge{name, help, labels, prometheus.NewDesc(name, help, labels, nil), samples}
}

func number[N int32 | int64](name, help string, value func(*dbv1.DatabaseCluster) N) gauge {
	return several(name, help, nil, func(c *dbv1.DatabaseCluster) []sample { return one(float64(value(c))) })
}

func flag(name, help string, value func(*dbv1.DatabaseCluster) bool) gauge {
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

// conditions are those of the operator: what others write into a status makes no series. They are 0 for both while one is Unknown, as before the first backup.
func conditions(c *dbv1.DatabaseCluster) []sample {
	all := make([]sample, 0, 2*len(dbv1.ClusterConditions))
	for _, kind := range dbv1.ClusterConditions {
		found := meta.FindStatusCondition(c.Status.Conditions, kind)
		if found == nil {
			continue
		}
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse} {
			all = append(all, sample{truth(found.Status == status), []string{kind, string(status)}})
		}
	}
	return all
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

// backup reads how the backups stand; there is nothing to read where the spec asks for none.
func backup(read func(*dbv1.ClusterBackupStatus) []sample) func(*dbv1.DatabaseCluster) []sample {
	return func(c *dbv1.DatabaseCluster) []sample {
		if c.Status.Backup == nil {
			return nil
		}
		return read(c.Status.Backup)
	}
}

func completedBytes(b *dbv1.ClusterBackupStatus) []sample {
	if b.LastCompleted == "" {
		return nil
	}
	return one(float64(b.LastCompletedBytes))
}

func since1970(at *metav1.Time) []sample {
	if at == nil {
		return nil
	}
	return one(float64(at.Unix()))
}

func bytes(quantity resource.Quantity) float64 { return quantity.AsApproximateFloat64() }
