/*
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"cmp"
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// The recorded names are the same for every engine.
const (
	recordRequests   = "dbcluster:requests:rate5m"
	recordErrors     = "dbcluster:errors:rate5m"
	recordDuration   = "dbcluster:duration_seconds:mean5m"
	recordSaturation = "dbcluster:saturation:ratio"
)

// Defaults of the limits of alerts.
const (
	defaultErrorPercent      int32 = 5
	defaultSaturationPercent int32 = 90
)

// runbooks is where the alerts point to.
const runbooks = "https://github.com/dbcluster/databasecluster-operator/blob/main/docs/runbooks/"

// PrometheusRule records the metrics of the members under names that no engine changes, and has the alerts of a resolved cluster.
func PrometheusRule(cluster *dbv1.DatabaseCluster, metrics *dbv1.EngineMetrics) objects.Child {
	name := "dbcluster." + cluster.Namespace + "." + cluster.Name
	return object(cluster, naming.PrometheusRuleKind, map[string]any{"groups": []any{
		map[string]any{"name": name + ".records", "rules": records(cluster, metrics)},
		map[string]any{"name": name + ".alerts", "rules": alerts(cluster, metrics)},
	}})
}

// matchers select the series of a cluster.
func matchers(cluster *dbv1.DatabaseCluster) string {
	return fmt.Sprintf("namespace=%q,%s=%q", cluster.Namespace, ClusterLabel, cluster.Name)
}

// names are the labels of each recorded series, besides the pod.
func names(cluster *dbv1.DatabaseCluster) map[string]any {
	return map[string]any{"namespace": cluster.Namespace, ClusterLabel: cluster.Name, "engine": cluster.Spec.Engine}
}

func records(cluster *dbv1.DatabaseCluster, metrics *dbv1.EngineMetrics) []any {
	var all []any
	for _, one := range []struct {
		record    string
		aggregate string
		by        dbv1.EngineExpression
	}{
		{recordRequests, "sum", metrics.Requests}, {recordErrors, "sum", metrics.Errors},
		{recordDuration, "avg", metrics.Duration}, {recordSaturation, "max", metrics.Saturation},
	} {
		if one.by != "" {
			expression := strings.ReplaceAll(strings.TrimSpace(string(one.by)), "$(CLUSTER)", matchers(cluster))
			all = append(all, map[string]any{
				"record": one.record, "expr": fmt.Sprintf("%s by (pod) (%s)", one.aggregate, expression), "labels": names(cluster),
			})
		}
	}
	return all
}

// alerts of a cluster. A member that is down has alerts of the operator's own metrics.
func alerts(cluster *dbv1.DatabaseCluster, metrics *dbv1.EngineMetrics) []any {
	at, limits := matchers(cluster), cluster.Spec.Monitoring.Alerts
	all := []any{
		alert(cluster, "DatabaseMetricsDown", fmt.Sprintf("max by (pod) (up{%s}) == 0", at),
			"Prometheus cannot scrape the metrics of {{ $labels.pod }}"),
		// A series that is missing although the scrape succeeds: the exporter cannot log in. A member that copies its data or recovers has no
		// database yet. The operator reports that it is not ready.
		alert(cluster, "DatabaseMetricsMissing",
			fmt.Sprintf("max by (pod) (up{%[1]s}) == 1 unless on (pod) %[2]s{%[1]s} unless on (pod) %[3]s{namespace=%[4]q,name=%[5]q} == 0", at,
				recordRequests, "databasecluster_status_member_ready", cluster.Namespace, cluster.Name),
			"the exporter of {{ $labels.pod }} cannot read the metrics of the database"),
	}
	if metrics.Errors != "" {
		percent := cmp.Or(limits.ErrorPercent, defaultErrorPercent)
		all = append(all, alert(cluster, "DatabaseErrorsHigh",
			fmt.Sprintf("100 * sum(%[2]s{%[1]s}) / (sum(%[3]s{%[1]s}) > 0) > %[4]d", at, recordErrors, recordRequests, percent),
			fmt.Sprintf("more than %d %% of the requests fail", percent)))
	}
	if metrics.Saturation != "" {
		percent := cmp.Or(limits.SaturationPercent, defaultSaturationPercent)
		all = append(all, alert(cluster, "DatabaseSaturated",
			fmt.Sprintf("100 * max by (pod) (%[2]s{%[1]s}) > %[3]d", at, recordSaturation, percent),
			fmt.Sprintf("{{ $labels.pod }} uses more than %d %% of its scarcest resource", percent)))
	}
	return all
}

// alertAfter is how long a cause must last.
const alertAfter = "10m"

// alert is a warning about a cluster. Its labels are those of the operator's other alerts, so that the same routes apply.
func alert(cluster *dbv1.DatabaseCluster, name, expression, text string) map[string]any {
	return map[string]any{
		"alert": name, "expr": expression, "for": alertAfter,
		"labels": map[string]any{"severity": "warning", "namespace": cluster.Namespace, "name": cluster.Name},
		"annotations": map[string]any{
			"summary":     fmt.Sprintf("DatabaseCluster %s/%s: %s", cluster.Namespace, cluster.Name, text),
			"runbook_url": runbooks + name + ".md",
		},
	}
}
