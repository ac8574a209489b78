/*
SPDX-License-Identifier: Apache-2.0
*/

// Package monitoring lets Prometheus scrape the members of a cluster, and gives the metrics of every engine the same names: it writes the
// PodMonitor and the PrometheusRule of a cluster.
package monitoring

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the monitoring of a cluster.
var Subject = subject.Subject{Read: read, Decide: decide, Transitions: []operation.Transition{
	warns(dbv1.ReasonMetricsUnsupported), warns(dbv1.ReasonExporterImageMissing),
	warns(dbv1.ReasonPrometheusOperatorMissing), warns(dbv1.ReasonMonitorOwnedByAnother),
}}

func warns(reason string) operation.Transition {
	return operation.Reported(dbv1.ConditionMonitoringConfigured, metav1.ConditionFalse, reason, corev1.EventTypeWarning)
}

// installedRequeue is the interval for checking whether the Prometheus Operator has been installed: no event reports a new kind.
const installedRequeue = 5 * time.Minute

// decide writes the objects that the spec asks for, and deletes the others. A deletion of the cluster leaves them to the garbage collector.
func decide(s *situation.Situation) subject.Decision {
	if s.Deleting() {
		return subject.Decision{}
	}
	seen := state.FactsOf[Facts](s.Observed)
	d := subject.Decision{Report: report(s, seen)}
	switch reason, _ := unserved(s); {
	case !s.EngineKnown():
	case seen.Refused != "":
		d.RequeueAfter = installedRequeue
	case seen.Unread != "":
		d.RequeueAfter = situation.MissingRequeue
	case reason != "" || !scraped(s.Cluster):
		d.Operations = remove(s, seen)
	default:
		d.Operations = write(s, seen)
	}
	return d
}

// scraped reports whether the spec asks for the objects of the Prometheus Operator.
func scraped(cluster *dbv1.DatabaseCluster) bool {
	return engine.Monitored(cluster) && cluster.Spec.Monitoring.Mode == dbv1.MonitoringPrometheus
}

// write writes the objects that differ. No member waits for them: a Prometheus Operator that refuses one blocks nothing.
func write(s *situation.Situation, seen Facts) operation.List {
	var all operation.List
	metrics := engine.Metrics(s.Engine)
	for _, one := range []struct {
		child objects.Child
		found Found
	}{{PodMonitor(s.Cluster, metrics), seen.Monitor}, {PrometheusRule(s.Cluster, metrics), seen.Rule}} {
		if one.found.Foreign {
			continue
		}
		if apply, needed := operation.ApplyOf(one.child, one.found.Live); needed {
			apply.Is.Independent, apply.Is.Optional, apply.Is.Applies = true, true, false
			all = append(all, apply)
		}
	}
	return all
}

// remove deletes the objects of the cluster that it no longer asks for, or that would match nothing.
func remove(s *situation.Situation, seen Facts) operation.List {
	var all operation.List
	for _, found := range []Found{seen.Monitor, seen.Rule} {
		if live := found.Live; live != nil && live.GetDeletionTimestamp() == nil {
			why := "spec.monitoring does not ask for it"
			if scraped(s.Cluster) {
				why = "the members serve no metrics"
			}
			all = append(all, operation.Deletion(operation.TargetOf(live.GroupVersionKind(), live).Because(why))...)
		}
	}
	return all.Optionally()
}

// unserved is why the members serve no metrics until the user acts; "" if they do.
func unserved(s *situation.Situation) (reason, message string) {
	metrics, mode := engine.Metrics(s.Engine), s.Cluster.Spec.Monitoring
	switch {
	case !engine.Monitored(s.Cluster) || !s.EngineKnown():
		return "", ""
	case s.Engine == nil:
		return dbv1.ReasonMetricsUnsupported, fmt.Sprintf("spec.monitoring.mode is %s, but the cluster has no engine: "+
			"set spec.engine to an engine with spec.metrics, or remove spec.monitoring", mode.Mode)
	case metrics == nil:
		return dbv1.ReasonMetricsUnsupported, fmt.Sprintf("spec.monitoring.mode is %s, but DatabaseEngine %s declares no metrics: "+
			"set spec.engine to an engine with spec.metrics, or remove spec.monitoring", mode.Mode, s.Engine.Name)
	case metrics.Sidecar != nil && !engine.Exports(s.Cluster):
		return dbv1.ReasonExporterImageMissing, fmt.Sprintf(
			"DatabaseEngine %s names no image of its exporter: set spec.monitoring.exporter.image", s.Engine.Name)
	default:
		return "", ""
	}
}

// problem is why the spec of the monitoring cannot be in force until the user acts; "" if it can.
func problem(s *situation.Situation, seen Facts) (reason, message string) {
	switch reason, message = unserved(s); {
	case reason != "":
		return reason, message
	case seen.Refused != "":
		return dbv1.ReasonPrometheusOperatorMissing, "spec.monitoring.mode Prometheus needs the Prometheus Operator: " + seen.Refused
	case seen.Monitor.Foreign:
		return dbv1.ReasonMonitorOwnedByAnother, another(naming.PodMonitorKind.Kind, s.Cluster.Name)
	case seen.Rule.Foreign:
		return dbv1.ReasonMonitorOwnedByAnother, another(naming.PrometheusRuleKind.Kind, s.Cluster.Name)
	default:
		return "", ""
	}
}

func another(kind, cluster string) string {
	return fmt.Sprintf("%s %s has another owner: rename or delete it, or set spec.monitoring.mode to Metrics",
		kind, naming.Monitoring(cluster))
}

// report sets the condition while the spec asks for monitoring. It claims only what the operator writes: whether Prometheus scrapes is
// known to Prometheus alone.
func report(s *situation.Situation, seen Facts) subject.Report {
	return func(o subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		cause := because(seen, o)
		if !engine.Monitored(s.Cluster) && seen.left() {
			return []metav1.Condition{subject.Condition(dbv1.ConditionMonitoringConfigured, false, dbv1.ReasonMonitoringPending,
				"the objects for spec.monitoring are not deleted yet"+cause)}
		}
		if !engine.Monitored(s.Cluster) {
			meta.RemoveStatusCondition(&status.Conditions, dbv1.ConditionMonitoringConfigured)
			return nil
		}
		reason, message := problem(s, seen)
		switch {
		case reason != "":
		case unwritten(s, seen, o):
			reason, message = dbv1.ReasonMonitoringPending, "the objects for spec.monitoring are not written yet"+cause
		default:
			return []metav1.Condition{subject.Condition(
				dbv1.ConditionMonitoringConfigured, true, dbv1.ReasonMonitoringConfigured, served(s.Cluster))}
		}
		return []metav1.Condition{subject.Condition(dbv1.ConditionMonitoringConfigured, false, reason, message)}
	}
}

// left reports whether an object may exist. They are read while the condition does.
func (f Facts) left() bool { return f.Monitor.Live != nil || f.Rule.Live != nil || f.Unread != "" }

// unwritten reports whether the objects may not be as the spec asks.
func unwritten(s *situation.Situation, seen Facts, o subject.Executed) bool {
	if !s.EngineKnown() || seen.Unread != "" {
		return true
	}
	prevented := o.Optional != nil || o.Err != nil || s.Cluster.Spec.Paused
	return prevented && scraped(s.Cluster) && len(write(s, seen)) > 0
}

// because is the end of a message with why an object was not read or written; "" for no reason.
func because(seen Facts, o subject.Executed) string {
	switch {
	case seen.Unread != "":
		return ": " + seen.Unread
	case o.Optional != nil:
		return ": " + strings.ReplaceAll(o.Optional.Error(), "\n", "; ")
	default:
		return ""
	}
}

// served describes where the metrics are.
func served(cluster *dbv1.DatabaseCluster) string {
	text := fmt.Sprintf("members that match the spec serve metrics on port %d", cluster.Spec.Monitoring.Port)
	if scraped(cluster) {
		text += fmt.Sprintf("; PodMonitor and PrometheusRule %s exist", naming.Monitoring(cluster.Name))
	}
	return text
}
