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

// reported is the status of a member as its software writes it.
func reported(position any, timeline int) string {
	return fmt.Sprintf(`{"conn_url":"ledger://10.0.0.1:7000/app","state":"running","version":"4.0.7","xlog_location":%v,"timeline":%d}`, position, timeline)
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
		"behind":                           {reported(67393608, 1), reported(67393000, 1), nil, "608"},
		"equal":                            {reported(67393608, 1), reported(67393608, 1), nil, "0"},
		"ahead of the primary's report":    {reported(100, 1), reported(190, 1), nil, "0"},
		"one byte above 2^53":              {reported(9007199254740993, 1), reported(9007199254740992, 1), nil, "1"},
		"the highest position":             {reported("9223372036854775807", 1), reported(7, 1), nil, "9223372036854775800"},
		"ahead on another timeline":        {reported(100, 2), reported(190, 1), nil, ""},
		"behind on the previous timeline":  {reported(190, 2), reported(100, 1), nil, "90"},
		"ahead without a timeline":         {reported(100, 1), `{"xlog_location":190}`, nil, ""},
		"both without a timeline, ahead":   {`{"xlog_location":100}`, `{"xlog_location":190}`, nil, ""},
		"both without a timeline, behind":  {`{"xlog_location":190}`, `{"xlog_location":100}`, nil, "90"},
		"no status of the replica":         {reported(190, 1), "", nil, ""},
		"no status of the primary":         {"", reported(190, 1), nil, ""},
		"no field of the replica":          {reported(190, 1), `{"state":"starting"}`, nil, ""},
		"no field of the primary":          {`{"state":"starting"}`, reported(190, 1), nil, ""},
		"no JSON":                          {reported(190, 1), `xlog_location: 100`, nil, ""},
		"a cut status":                     {reported(190, 1), `{"xlog_location":100`, nil, ""},
		"a list":                           {reported(190, 1), `[100]`, nil, ""},
		"null":                             {reported(190, 1), `null`, nil, ""},
		"a position that is null":          {reported(190, 1), reported("null", 1), nil, ""},
		"a text":                           {reported(190, 1), reported(`"100"`, 1), nil, ""},
		"a fraction":                       {reported(190, 1), reported("100.5", 1), nil, ""},
		"an exponent":                      {reported(190, 1), reported("1e2", 1), nil, ""},
		"a negative position":              {reported(190, 1), reported(-100, 1), nil, ""},
		"a negative position of a primary": {reported(-190, 1), reported(100, 1), nil, ""},
		"a position above 2^63":            {reported(190, 1), reported("9223372036854775808", 1), nil, ""},
		"a zero for a replica":             {reported(190, 1), reported(0, 1), nil, ""},
		"a zero for a primary":             {reported(0, 1), reported(190, 1), nil, ""},
		"no ready primary": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, primary, _ *corev1.Pod) {
			primary.Status.Conditions = nil
		}, ""},
		"a primary that terminates": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, primary, _ *corev1.Pod) {
			primary.DeletionTimestamp = &metav1.Time{}
		}, ""},
		"two ready primaries": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Labels["role"] = "primary"
		}, ""},
		"a replica that is not ready": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Status.Conditions = nil
		}, "90"},
		"a member without a role": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			delete(replica.Labels, "role")
		}, ""},
		"an engine without positions": {reported(190, 1), reported(100, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles.PositionField = ""
		}, ""},
		"an engine without roles": {reported(190, 1), reported(100, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles = nil
		}, ""},
		"an engine without timelines, ahead": {reported(100, 2), reported(190, 1), func(declared *dbv1.DatabaseEngine, _, _ *corev1.Pod) {
			declared.Spec.Roles.TimelineField = ""
		}, "0"},
		"a pod of the previous cluster": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Labels[dbv1.LabelClusterUID] = "u-0"
		}, ""},
		"a copy of a member": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
			replica.Name = "orders-1-debug"
		}, ""},
		"a pod of a Job": {reported(190, 1), reported(100, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) {
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
		reporting(cluster, 0, "replica", reported(90, 3)), reporting(cluster, 1, "primary", reported(100, 3)),
		reporting(cluster, 2, "replica", `{"state":"starting"}`), reporting(cluster, 3, "replica", reported(100, 3)),
	}
	if got := Lags(cluster, positioned(), pods); !slices.Equal(got, []Lag{{"orders-0", 10}, {"orders-3", 0}}) {
		t.Errorf("%+v", got)
	}
	if got := Lags(cluster, nil, pods); len(got) > 0 {
		t.Errorf("with an unknown engine: %+v", got)
	}
}

func TestAReplicaIsFreshOnlyIfItIsKnownToFollowThePrimary(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "u-1"}}
	const at = 1 << 30
	for name, c := range map[string]struct {
		primary, replica string
		change           func(declared *dbv1.DatabaseEngine, primary, replica *corev1.Pod)
		want             bool
	}{
		"equal":                               {reported(at, 1), reported(at, 1), nil, true},
		"16 MiB behind":                       {reported(at, 1), reported(at-freshBytes, 1), nil, true},
		"one byte more":                       {reported(at, 1), reported(at-freshBytes-1, 1), nil, false},
		"ahead of the primary's report":       {reported(at, 1), reported(at+9, 1), nil, true},
		"near on the previous timeline":       {reported(at, 2), reported(at-1, 1), nil, false},
		"ahead on another timeline":           {reported(at, 2), reported(at+1, 1), nil, false},
		"without a timeline":                  {reported(at, 1), fmt.Sprintf(`{"xlog_location":%d}`, at), nil, false},
		"a primary without a timeline":        {fmt.Sprintf(`{"xlog_location":%d}`, at), reported(at, 1), nil, false},
		"both without a timeline":             {fmt.Sprintf(`{"xlog_location":%d}`, at), fmt.Sprintf(`{"xlog_location":%d}`, at), nil, false},
		"an unknown position":                 {reported(at, 1), `{"state":"starting"}`, nil, false},
		"an unknown position of the primary":  {"", reported(at, 1), nil, false},
		"a position of zero on both":          {reported(0, 1), reported(0, 1), nil, false},
		"no ready primary":                    {reported(at, 1), reported(at, 1), func(_ *dbv1.DatabaseEngine, primary, _ *corev1.Pod) { primary.Status.Conditions = nil }, false},
		"two ready primaries":                 {reported(at, 1), reported(at, 1), func(_ *dbv1.DatabaseEngine, _, replica *corev1.Pod) { replica.Labels["role"] = "primary" }, false},
		"an engine without positions":         {reported(at, 1), reported(at, 1), func(e *dbv1.DatabaseEngine, _, _ *corev1.Pod) { e.Spec.Roles.PositionField = "" }, false},
		"an engine without timelines, behind": {reported(at, 2), reported(at-1, 1), func(e *dbv1.DatabaseEngine, _, _ *corev1.Pod) { e.Spec.Roles.TimelineField = "" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			declared, primary, replica := positioned(), reporting(cluster, 0, "primary", c.primary), reporting(cluster, 1, "replica", c.replica)
			if c.change != nil {
				c.change(declared, primary, replica)
			}
			if got := Fresh(cluster, declared, []*corev1.Pod{primary, replica}); slices.Contains(got, "orders-1") != c.want || len(got) > 1 {
				t.Errorf("the fresh replicas are %v", got)
			}
		})
	}
}
