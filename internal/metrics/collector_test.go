/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// orders is a cluster during a rollout: one of its three members is ready.
func orders() dbv1.DatabaseCluster {
	c := dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Generation: 7}}
	c.Spec.Replicas, c.Spec.Image = 3, "example.com/database:2"
	c.Spec.UpdateStrategy.Type = dbv1.UpdateRolling
	capacity := resource.MustParse("10Gi")
	c.Status = dbv1.DatabaseClusterStatus{
		ObservedGeneration: 6, Replicas: 2, ReadyReplicas: 1, UpdatedReplicas: 1,
		Conditions: []metav1.Condition{
			{Type: dbv1.ConditionAvailable, Status: metav1.ConditionFalse, Reason: dbv1.ReasonReplicasNotReady},
			{Type: dbv1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: dbv1.ReasonRollingOut},
		},
		Members: []dbv1.MemberStatus{{Pod: "orders-0", Ready: true, Outdated: true}, {Pod: "orders-1"}},
		Storage: &dbv1.ClusterStorageStatus{Requested: resource.MustParse("20Gi"), Capacity: &capacity},
	}
	return c
}

// backedUp is a cluster's status with a complete backup and a verified one.
func backedUp() *dbv1.ClusterBackupStatus {
	completed, verified := metav1.NewTime(time.Unix(1800000000, 0)), metav1.NewTime(time.Unix(1900000000, 0))
	return &dbv1.ClusterBackupStatus{
		LastCompletedBackup: "orders-nightly", LastCompletionTime: &completed, LastCompletedBytes: 42,
		LastVerifiedBackup: "orders-nightly", LastVerificationTime: &verified, NextScheduleTime: &verified,
		LastRecoveryTime: &verified, LastRecoveryTarget: dbv1.RecoverRandom, LastRecoveryDurationSeconds: 90, LastRecoveryLagSeconds: new(int64(7)),
	}
}

// listed is a registry with the collector of these clusters, without pods.
func listed(t *testing.T, clusters *[]dbv1.DatabaseCluster) *prometheus.Registry {
	return registered(t, func() []subject {
		var all []subject
		for i := range *clusters {
			all = append(all, subject{DatabaseCluster: &(*clusters)[i]})
		}
		return all
	})
}

func registered(t *testing.T, list func() []subject) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector{func() (objects, error) { return objects{clusters: list()}, nil }}); err != nil {
		t.Fatal(err)
	}
	return registry
}

// series are the lines of a scrape, without the help texts and types.
func series(t *testing.T, gatherer prometheus.Gatherer) []string {
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%s", l.GetName(), l.GetValue()))
			}
			lines = append(lines, fmt.Sprintf("%s{%s} %v", family.GetName(), strings.Join(labels, ","), metric.GetGauge().GetValue()))
		}
	}
	return lines
}

func TestEveryFieldThatIsReportedHasItsSeries(t *testing.T) {
	full := orders()
	full.Spec.Paused, full.Spec.Hibernated, full.Spec.UpdateStrategy.Paused = true, true, true
	deleted := metav1.NewTime(time.Unix(1700000000, 0))
	full.DeletionTimestamp = &deleted
	full.Status.Backup = backedUp()
	meta.FindStatusCondition(full.Status.Conditions, dbv1.ConditionProgressing).Reason = dbv1.ReasonRestoring
	want := []string{
		"databasecluster_deletion_timestamp_seconds{name=orders,namespace=shop} 1.7e+09",
		"databasecluster_info{image=example.com/database:2,name=orders,namespace=shop,update_strategy_type=RollingUpdate} 1",
		"databasecluster_metadata_generation{name=orders,namespace=shop} 7",
		"databasecluster_operator_leading{} 1",
		"databasecluster_spec_hibernated{name=orders,namespace=shop} 1",
		"databasecluster_spec_paused{name=orders,namespace=shop} 1",
		"databasecluster_spec_replicas{name=orders,namespace=shop} 3",
		"databasecluster_spec_update_strategy_paused{name=orders,namespace=shop} 1",
		"databasecluster_status_backup_last_completed_bytes{name=orders,namespace=shop} 42",
		"databasecluster_status_backup_last_completion_time_seconds{name=orders,namespace=shop} 1.8e+09",
		"databasecluster_status_backup_last_recovery_duration_seconds{name=orders,namespace=shop} 90",
		"databasecluster_status_backup_last_recovery_lag_seconds{name=orders,namespace=shop} 7",
		"databasecluster_status_backup_last_recovery_time_seconds{name=orders,namespace=shop} 1.9e+09",
		"databasecluster_status_backup_last_verification_time_seconds{name=orders,namespace=shop} 1.9e+09",
		"databasecluster_status_condition{name=orders,namespace=shop,status=False,type=Available} 1",
		"databasecluster_status_condition{name=orders,namespace=shop,status=False,type=Progressing} 0",
		"databasecluster_status_condition{name=orders,namespace=shop,status=True,type=Available} 0",
		"databasecluster_status_condition{name=orders,namespace=shop,status=True,type=Progressing} 1",
		"databasecluster_status_member_ready{name=orders,namespace=shop,pod=orders-0} 1",
		"databasecluster_status_member_ready{name=orders,namespace=shop,pod=orders-1} 0",
		"databasecluster_status_observed_generation{name=orders,namespace=shop} 6",
		"databasecluster_status_outdated_replicas{name=orders,namespace=shop} 1",
		"databasecluster_status_ready_replicas{name=orders,namespace=shop} 1",
		"databasecluster_status_replicas{name=orders,namespace=shop} 2",
		"databasecluster_status_restore_running{name=orders,namespace=shop} 1",
		"databasecluster_status_storage_capacity_bytes{name=orders,namespace=shop} 1.073741824e+10",
		"databasecluster_status_storage_requested_bytes{name=orders,namespace=shop} 2.147483648e+10",
		"databasecluster_status_updated_replicas{name=orders,namespace=shop} 1",
	}
	got := series(t, listed(t, &[]dbv1.DatabaseCluster{full}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAClusterBeforeItsFirstPassHasNoSeriesOfUnknownValues(t *testing.T) {
	fresh := orders()
	fresh.Status = dbv1.DatabaseClusterStatus{Backup: &dbv1.ClusterBackupStatus{}}
	for _, line := range series(t, listed(t, &[]dbv1.DatabaseCluster{fresh})) {
		for _, unknown := range []string{"condition", "storage", "member_ready", "deletion", "backup"} {
			if strings.Contains(line, unknown) {
				t.Errorf("a series of what is not known: %s", line)
			}
		}
	}
}

func TestADeletedClusterLeavesNoSeries(t *testing.T) {
	kept, gone := orders(), orders()
	gone.Name = "carts"
	clusters := []dbv1.DatabaseCluster{kept, gone}
	registry := listed(t, &clusters)
	if before := strings.Join(series(t, registry), "\n"); !strings.Contains(before, "name=carts") {
		t.Fatalf("no series of carts while it is there:\n%s", before)
	}
	clusters = clusters[:1]
	after := series(t, registry)
	for _, line := range after {
		if strings.Contains(line, "name=carts") {
			t.Errorf("left behind: %s", line)
		}
	}
	if alone := series(t, listed(t, &[]dbv1.DatabaseCluster{kept})); !slices.Equal(after, alone) {
		t.Errorf("got %d series, a cluster that always was alone has %d", len(after), len(alone))
	}
}

func TestAClusterIsUnwritableOnlyWhileNoClientCanWrite(t *testing.T) {
	for reason, want := range map[string]bool{
		dbv1.ReasonNoPrimary: true, dbv1.ReasonNoMajority: true, dbv1.ReasonWritesRefused: true,
		dbv1.ReasonReplicasNotReady: false, dbv1.ReasonHibernated: false, dbv1.ReasonHibernating: false,
	} {
		cluster := orders()
		cluster.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionAvailable, Status: metav1.ConditionFalse, Reason: reason}}
		lines := strings.Join(series(t, listed(t, &[]dbv1.DatabaseCluster{cluster})), "\n")
		if got := strings.Contains(lines, "databasecluster_status_unwritable{name=orders,namespace=shop} 1"); got != want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}

// perCluster is the highest number of series of one cluster, which docs/metrics.md states.
const perCluster = 82

func TestTheSeriesOfAClusterAreBoundedWhateverItsStatusHolds(t *testing.T) {
	largest := orders()
	deleted := metav1.NewTime(time.Unix(1, 0))
	largest.DeletionTimestamp, largest.Status.Conditions, largest.Status.Members = &deleted, nil, nil
	for _, kind := range append([]string{"SomebodyElses", "Another"}, dbv1.ClusterConditions...) {
		largest.Status.Conditions = append(largest.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus("Status of " + kind), Reason: "Reason of " + kind, Message: "Message of " + kind,
		})
	}
	largest.Status.Backup, largest.Status.TLS = backedUp(), &dbv1.ClusterTLSStatus{NotAfter: &deleted}
	meta.FindStatusCondition(largest.Status.Conditions, dbv1.ConditionProgressing).Reason = dbv1.ReasonRestoring
	available := meta.FindStatusCondition(largest.Status.Conditions, dbv1.ConditionAvailable)
	available.Status, available.Reason = metav1.ConditionFalse, dbv1.ReasonWritesRefused
	for i := range 9 {
		largest.Status.Members = append(largest.Status.Members, dbv1.MemberStatus{Pod: fmt.Sprintf("orders-%d", i), Message: "Message"})
	}
	lines := series(t, registered(t, func() []subject { return []subject{replicating(largest, 9)} }))
	if got := len(lines) - 1; got != perCluster {
		t.Errorf("%d series, want %d: change perCluster and the number in docs/metrics.md", got, perCluster)
	}
	for _, line := range lines {
		for _, free := range []string{"SomebodyElses", "Status of", "Reason of", "Message"} {
			if strings.Contains(line, free) {
				t.Errorf("a text that anybody can write became a label: %s", line)
			}
		}
	}
}

// TestLabelsTakeFewValues lists every label. An additional label is a decision about cardinality.
func TestLabelsTakeFewValues(t *testing.T) {
	allowed := map[string]string{
		"namespace": "the cluster's", "name": "the cluster's", "pod": "at most 9 a cluster", "image": "one a cluster",
		"update_strategy_type": "an enumeration", "type": "ClusterConditions", "status": "True and False",
	}
	for _, g := range gauges {
		for _, label := range g.labels {
			if allowed[label] == "" {
				t.Errorf("%s has the label %s", g.name, label)
			}
		}
	}
}

func TestAScrapeFailsIfTheClustersCannotBeListed(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{func() (objects, error) { return objects{}, errors.New("no cache") }})
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "no cache") {
		t.Errorf("got %v, want what went wrong", err)
	}
}

func TestMetricNamesFollowPrometheusConventions(t *testing.T) {
	deleted := metav1.NewTime(time.Unix(1, 0))
	full := orders()
	full.DeletionTimestamp, full.Status.Backup = &deleted, backedUp()
	problems, err := testutil.GatherAndLint(registered(t, func() []subject { return []subject{replicating(full, 3)} }))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// BenchmarkScrape measures a scrape of 1,000 clusters of three members.
func BenchmarkScrape(b *testing.B) {
	clusters := make([]subject, 1000)
	for i := range clusters {
		cluster := orders()
		cluster.Name = fmt.Sprintf("orders-%d", i)
		clusters[i] = replicating(cluster, 3)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{func() (objects, error) { return objects{clusters: clusters}, nil }})
	for b.Loop() {
		if families, err := registry.Gather(); err != nil || len(families) == 0 {
			b.Fatalf("%d families, %v", len(families), err)
		}
	}
}
