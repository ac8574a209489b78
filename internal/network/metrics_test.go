/*
SPDX-License-Identifier: Apache-2.0
*/

package network_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// exported is a cluster with an exporter that only Prometheus may reach, and its engine.
func exported(from ...networkingv1.NetworkPolicyPeer) *dbv1.DatabaseCluster {
	declared := &dbv1.DatabaseEngine{}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "metrics-password", Generate: &dbv1.EngineSecretValue{}}}
	declared.Spec.Metrics = &dbv1.EngineMetrics{Sidecar: &dbv1.EngineExporter{
		Image: "exporter:1", Command: []string{"exporter"}, Port: 9100, SecretKeys: []string{"metrics-password"},
	}}
	c := plans.Orders()
	c.Spec.Engine, c.Spec.Monitoring = "ledger-v1", &dbv1.ClusterMonitoring{Mode: dbv1.MonitoringMetrics, From: from}
	return engine.Resolve(c, declared)
}

// The port of the exporter is open to the peers of spec.monitoring.from only, and not to all clients as the ports of other sidecars.
func TestOnlyThePeersOfTheMonitoringReachTheMetrics(t *testing.T) {
	prometheus := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "prometheus"}}}
	for _, from := range [][]networkingv1.NetworkPolicyPeer{nil, {prometheus}} {
		var rules []networkingv1.NetworkPolicyIngressRule
		for _, rule := range policyOf(t, exported(from...)).Spec.Ingress {
			for _, port := range rule.Ports {
				if port.Port.IntValue() == 9100 {
					rules = append(rules, rule)
				}
			}
		}
		if len(rules) != 1 || len(rules[0].From) != len(from) || len(rules[0].Ports) != 1 {
			t.Errorf("from %v: %+v", from, rules)
		}
	}
}

func TestTheExporterIsASidecarOfMembersAlone(t *testing.T) {
	cluster := exported()
	template := pods.Template(cluster, nil).Spec
	if exporter := template.InitContainers[len(template.InitContainers)-1]; *exporter.Name != naming.ExporterContainer ||
		*exporter.RestartPolicy != corev1.ContainerRestartPolicyAlways || exporter.ReadinessProbe != nil || *exporter.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("%+v", exporter)
	}
	for _, volume := range pods.Spec(pods.ForJobs(cluster)).Volumes {
		if *volume.Name == naming.ExporterVolume {
			t.Error("a Job has the volume of the exporter")
		}
	}
	for _, reference := range pods.References(cluster) {
		if reference.Where != pods.CredentialsField {
			t.Errorf("%+v is no reference of the user", reference)
		}
	}
}
