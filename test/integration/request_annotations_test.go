//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// awaitRequest waits until the status has a request in a state, and returns its row.
func awaitRequest(t *testing.T, cluster *dbv1.DatabaseCluster, kind dbv1.ClusterRequestType, value string,
	is dbv1.ClusterRequestState) (row dbv1.ClusterRequestStatus) {
	t.Helper()
	await(t, cluster, string(kind)+" "+value+" to be "+string(is), func() bool {
		i := slices.IndexFunc(cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
			return r.Type == kind && r.Request == value && r.State == is
		})
		if i >= 0 {
			row = cluster.Status.Requests[i]
		}
		return i >= 0
	})
	return row
}

func TestARequestThatCannotBeExecutedIsRefusedAndTheClusterStaysReady(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	since := meta.FindStatusCondition(read(t, cluster).Status.Conditions, dbv1.ConditionReady).LastTransitionTime
	change(t, cluster, annotated(dbv1.AnnotationHandOver, "orders-7"))
	change(t, cluster, annotated(dbv1.AnnotationRebuild, "orders-7"))
	for _, kind := range []dbv1.ClusterRequestType{dbv1.RequestHandOver, dbv1.RequestRebuild} {
		if row := awaitRequest(t, cluster, kind, "orders-7", dbv1.RequestRefused); row.Message == "" || row.Time == nil {
			t.Errorf("%+v", row)
		}
	}
	eventually(t, "both events", func() error {
		events := eventsOf(t, cluster)
		return errorIf(strings.Count(events, "RequestRefused") != 2, "the events are %s", events)
	})
	is := meta.FindStatusCondition(read(t, cluster).Status.Conditions, dbv1.ConditionReady)
	if is.Status != metav1.ConditionTrue || !is.LastTransitionTime.Equal(&since) {
		t.Errorf("Ready was True since %v, and is %+v", since, is)
	}
}

func TestRequestsOfAPausedClusterWait(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true })
	change(t, cluster, annotated(dbv1.AnnotationRestart, "1"))
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	if row := awaitRequest(t, cluster, dbv1.RequestRestart, "1", dbv1.RequestPending); row.Message != "spec.paused is true" {
		t.Errorf("%+v", row)
	}
	awaitRequest(t, cluster, dbv1.RequestRefresh, "1", dbv1.RequestCompleted)
	before := uids(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = false })
	awaitRestarted(t, cluster, before)
	awaitRequest(t, cluster, dbv1.RequestRestart, "1", dbv1.RequestCompleted)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { delete(c.Annotations, dbv1.AnnotationRefresh) })
	await(t, cluster, "the row to end with its annotation", func() bool { return len(cluster.Status.Requests) == 1 })
}
