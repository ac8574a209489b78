/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// replicated is an engine that reports positions.
func replicated() *dbv1.DatabaseEngine {
	engine := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1"}}
	engine.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica", PositionField: "xlog_location"}
	return engine
}

// member is a ready pod that reports its position.
func member(cluster dbv1.DatabaseCluster, ordinal int32, role string, position int64) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: naming.Member(cluster.Name, ordinal), Labels: naming.Labels(&cluster, dbv1.ComponentDatabase),
		Annotations: map[string]string{dbv1.AnnotationStatus: fmt.Sprintf(`{"xlog_location":%d}`, position)},
	}}
	pod.Labels["role"] = role
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

// replicating is a cluster with member 0 as the primary. Replica 1 is 1 byte behind it, replica 2 is 2 bytes behind it, and so on.
func replicating(cluster dbv1.DatabaseCluster, members int32) subject {
	s := subject{&cluster, replicated(), []*corev1.Pod{member(cluster, 0, "primary", 1000)}}
	for i := int32(1); i < members; i++ {
		s.pods = append(s.pods, member(cluster, i, "replica", 1000-int64(i)))
	}
	return s
}

func TestTheLagOfEachReplicaIsReadAtEachScrape(t *testing.T) {
	s := replicating(orders(), 3)
	registry := registered(t, func() []subject { return []subject{s} })
	lags := func() string {
		var all []string
		for _, line := range series(t, registry) {
			if _, lag, is := strings.Cut(line, "databasecluster_member_lag_bytes{name=orders,namespace=shop,"); is {
				all = append(all, lag)
			}
		}
		return strings.Join(all, " ")
	}
	if got := lags(); got != "pod=orders-1} 1 pod=orders-2} 2" {
		t.Errorf("got %s", got)
	}
	s.pods[0] = member(orders(), 0, "primary", 5000)
	if got := lags(); got != "pod=orders-1} 4001 pod=orders-2} 4002" {
		t.Errorf("after the primary wrote: %s", got)
	}
	s.pods[2].Annotations = nil
	if got := lags(); got != "pod=orders-1} 4001" {
		t.Errorf("an unknown position: %s", got)
	}
	s.engine = nil
	if got := lags(); got != "" {
		t.Errorf("an unknown engine: %s", got)
	}
}
