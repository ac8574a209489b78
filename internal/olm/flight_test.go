/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// restored is a cluster whose restore is in a phase.
func restored(name string, phase dbv1.ClusterRestorePhase) dbv1.DatabaseCluster {
	c := dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	c.Status.Restore = &dbv1.ClusterRestoreStatus{Phase: phase}
	return c
}

func running(name string) dbv1.DatabaseCluster { return restored(name, dbv1.RestoreRunning) }

// reported is the condition that was reported so long ago.
func reported(status metav1.ConditionStatus, reason string, ago time.Duration) metav1.Condition {
	return metav1.Condition{Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(now.Add(-ago))}
}

func TestRestoresBlockAnUpgradeForAQuarterOfAnHourAtMost(t *testing.T) {
	nothing := metav1.Condition{}
	free := reported(metav1.ConditionTrue, ReasonNothingInFlight, time.Hour)
	held := func(ago time.Duration) metav1.Condition {
		return reported(metav1.ConditionFalse, ReasonRestoreInFlight, ago)
	}
	enough := reported(metav1.ConditionTrue, ReasonBlockedLongEnough, time.Hour)
	leaving := running("leaving")
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	several := []dbv1.DatabaseCluster{running("c"), running("a"), running("b"), restored("0", dbv1.RestoreCompleted)}

	cases := map[string]struct {
		clusters []dbv1.DatabaseCluster
		said     metav1.Condition
		reason   string
		says     string
		again    time.Duration
	}{
		"no cluster":                        {nil, nothing, ReasonNothingInFlight, "no restore is running", 0},
		"a cluster that was not restored":   {[]dbv1.DatabaseCluster{{}}, nothing, ReasonNothingInFlight, "no restore is running", 0},
		"a restore that failed":             {[]dbv1.DatabaseCluster{restored("a", dbv1.RestoreFailed)}, held(0), ReasonNothingInFlight, "no restore is running", 0},
		"one that is complete":              {[]dbv1.DatabaseCluster{restored("a", dbv1.RestoreCompleted)}, held(0), ReasonNothingInFlight, "no restore is running", 0},
		"one whose cluster is deleted":      {[]dbv1.DatabaseCluster{leaving}, nothing, ReasonNothingInFlight, "no restore is running", 0},
		"one of which OLM knows nothing":    {[]dbv1.DatabaseCluster{running("a")}, nothing, ReasonRestoreInFlight, "shop/a is running and blocks upgrades of the operator until 2026-03-01T12:15:00Z", BlockedAtMost},
		"one that begins":                   {[]dbv1.DatabaseCluster{running("a")}, free, ReasonRestoreInFlight, "until 2026-03-01T12:15:00Z", BlockedAtMost},
		"one that continues":                {[]dbv1.DatabaseCluster{running("a")}, held(5 * time.Minute), ReasonRestoreInFlight, "until 2026-03-01T12:10:00Z", 10 * time.Minute},
		"the last moment":                   {[]dbv1.DatabaseCluster{running("a")}, held(BlockedAtMost - time.Second), ReasonRestoreInFlight, "shop/a", time.Second},
		"the moment after":                  {[]dbv1.DatabaseCluster{running("a")}, held(BlockedAtMost), ReasonBlockedLongEnough, "continues the restore into DatabaseCluster shop/a", 0},
		"recorded by a clock that is ahead": {[]dbv1.DatabaseCluster{running("a")}, held(-time.Second), ReasonRestoreInFlight, "until 2026-03-01T12:15:01Z", BlockedAtMost + time.Second},
		"blocked since the future":          {[]dbv1.DatabaseCluster{running("a")}, held(-time.Hour), ReasonBlockedLongEnough, "shop/a", 0},
		"another one while one is long":     {[]dbv1.DatabaseCluster{running("a"), running("new")}, enough, ReasonBlockedLongEnough, "shop/a and 1 more", 0},
		"another one when all had ended":    {[]dbv1.DatabaseCluster{running("new")}, free, ReasonRestoreInFlight, "shop/new", BlockedAtMost},
		"one after the other without pause": {[]dbv1.DatabaseCluster{running("third")}, held(14 * time.Minute), ReasonRestoreInFlight, "until 2026-03-01T12:01:00Z", time.Minute},
		"all ended after long enough":       {nil, enough, ReasonNothingInFlight, "no restore is running", 0},
		"several, in whatever order":        {several, held(0), ReasonRestoreInFlight, "shop/a and 2 more is running", BlockedAtMost},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Judge(c.clusters, c.said, now)
			if got.Reason != c.reason || !strings.Contains(got.Message, c.says) || got.RequeueAfter != c.again {
				t.Errorf("got %+v, want %s with %q, requeue after %s", got, c.reason, c.says, c.again)
			}
			if held := c.reason == ReasonRestoreInFlight; (got.Status == metav1.ConditionFalse) != held || got.Status == metav1.ConditionUnknown {
				t.Errorf("Upgradeable is %s with the reason %s", got.Status, got.Reason)
			}
		})
	}
}
