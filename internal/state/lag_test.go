/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// patroni is the status of a member as Patroni 4.0.7 writes it.
func patroni(position any, timeline int) string {
	return fmt.Sprintf(`{"conn_url":"postgres://10.0.0.1:5432/postgres","state":"running","version":"4.0.7","xlog_location":%v,"timeline":%d}`, position, timeline)
}

func reporting(cluster *dbv1.DatabaseCluster, ordinal int, role, status string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: naming.Member(cluster.Name, int32(ordinal)), Labels: naming.Labels(cluster, dbv1.ComponentDatabase),
		Annotations: map[string]string{dbv1.AnnotationStatus: status},
	}}
	pod.Labels["role"] = role
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func positioned() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica", PositionField: "xlog_location", TimelineField: "timeline"}
	return declared
}

func TestALagIsReportedOnlyIfBothPositionsAreKnown(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "u-1"}}
	for name, c := range map[string]struct {
		primary, replica string
		change           func(declared *dbv1.DatabaseEngine, primary, replica *corev1.Pod)
		want             string
	}{
		"behind":                            {patroni(67393608, 1), patroni(67393000, 1), nil, "608"},
		"equal":                             {patroni(67393608, 1), patroni(67393608, 1), nil, "0"},
		"ahead of the primary's report":     {patroni(100, 1), patroni(190, 1), nil, "0"},
		"one byte above 2^53":               {patroni(9007199254740993, 1), patroni(9007199254740992, 1), nil, "1"},
		"the highest position":              {patroni("9223372036854775807", 1), patroni(7, 1), nil, "9223372036854775800"},
		"ahead on another timeline":         {patroni(100, 2), patroni(190, 1), nil, ""},
		"behind on the previous timeline":   {patroni(190, 2), patroni(100, 1), nil, "90"},
		"ahead without a timeline":          {patroni(100, 1), `{"xlog_location":190}`, nil, ""},
		"both without a timeline, ahead":    {`{"xlog_location":100}`, `{"xlog_location":190}`, nil, ""},
		"both without a timeline, behind":   {`{"xlog_location":190}`, `{"xlog_location":100}`, nil, "90"},
		"no status of the replica":          {patroni(190, 1), "", nil, ""},
		"no status of the primary":          {"", patroni(190, 1), nil, ""},
		"no field of the replica":           {patroni(190, 1), `{"state":"starting"}`, nil, ""},
		"no field of the primary":           {`{"state":"starting"}`, patroni(190, 1), nil, ""},
		"no JSON":                           {patroni(190, 1), `xlog_location: 100`, nil, ""},
		"a cut status":                      {patroni(190, 1), `{"xlog_location":100`, nil, ""},
		"a list":                            {patroni(190, 1), `[100]`, nil, ""},
		"null":                              {patroni(190, 1), `null`, nil, ""},
		"a position that is null":           {patroni(190, 1), patroni("null", 1), nil, ""},
		"a text":                            {patroni(190, 1), patroni(`"100"`, 1), nil, ""},
		"a fraction":                        {patroni(190, 1), patroni("100.5", 1), nil, ""},
		"an exponent":                       {patroni(190, 1), patroni("1e2", 1), nil, ""},
		"a negative position":               {patroni(190, 1), patroni(-100, 1), nil, ""},
		"a negative position of a primary":  {patroni(-190, 1), patroni(100, 1), nil, ""},
		"a position above 2^63":             {patroni(190, 1), patroni("9223372036854775808", 1), nil, ""},
		"the zero of Patroni for a replica": {patroni(190, 1), patroni(0, 1), nil, ""},
		"the zero of Patroni for a primary": {patroni(0, 1), patroni(190, 1), nil, ""},
		"no ready primary": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, primary, _ *corev1.Pod) {
			primary.Status.Conditions = nil
		}, ""},
		"a primary that terminates": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, primary, _ *corev1.Pod) {
			primary.DeletionTimestamp = &metav1.Time{}
		}, ""},
		"two ready primaries": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Labels["role"] = "primary"
		}, ""},
		"a replica that is not ready": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Status.Conditions = nil
		}, "90"},
		"a member without a role": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			delete(replica.Labels, "role")
		}, ""},
		"an engine without positions": {patroni(190, 1), patroni(100, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles.PositionField = ""
		}, ""},
		"an engine without roles": {patroni(190, 1), patroni(100, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles = nil
		}, ""},
		"an engine without timelines, ahead": {patroni(100, 2), patroni(190, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles.TimelineField = ""
		}, "0"},
		"a pod of the previous cluster": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Labels[dbv1.LabelClusterUID] = "u-0"
		}, ""},
		"a copy of a member": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Name = "orders-1-debug"
		}, ""},
		"a pod of a Job": {patroni(190, 1), patroni(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Labels[dbv1.LabelComponent] = dbv1.ComponentBackup
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			declared, primary, replica := positioned(), reporting(cluster, 0, "primary", c.primary), reporting(cluster, 1, "replica", c.replica)
			if c.change != nil {
				c.change(declared, primary, replica)
			}
			got := ""
			for _, lag := range Lags(cluster, declared, []*corev1.Pod{primary, replica}) {
				got += fmt.Sprint(lag.Bytes)
				if lag.Pod != "orders-1" || lag.Bytes < 0 {
					t.Errorf("%+v", lag)
				}
			}
			if got != c.want {
				t.Errorf("the lag is %q, want %q", got, c.want)
			}
		})
	}
}

func TestEachReplicaHasItsOwnLag(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "u-1"}}
	pods := []*corev1.Pod{
		reporting(cluster, 0, "replica", patroni(90, 3)), reporting(cluster, 1, "primary", patroni(100, 3)),
		reporting(cluster, 2, "replica", `{"state":"starting"}`), reporting(cluster, 3, "replica", patroni(100, 3)),
	}
	if got := Lags(cluster, positioned(), pods); !slices.Equal(got, []Lag{{"orders-0", 10}, {"orders-3", 0}}) {
		t.Errorf("%+v", got)
	}
	if got := Lags(cluster, nil, pods); len(got) > 0 {
		t.Errorf("with an unknown engine: %+v", got)
	}
}
