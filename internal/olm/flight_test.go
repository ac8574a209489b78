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

// restored is a cluster whose restore is in a phase, and whose Progressing and Stalled last changed so long ago.
func restored(name string, phase dbv1.RestorePhase, progressing, stalled time.Duration) dbv1.DatabaseCluster {
	c := dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(now.Add(-24 * time.Hour)),
	}}
	c.Status.Restore = &dbv1.RestoreStatus{Phase: phase}
	c.Status.Conditions = []metav1.Condition{
		{Type: dbv1.ConditionProgressing, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-progressing))},
		{Type: dbv1.ConditionStalled, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-stalled))},
	}
	return c
}

func TestAnUpgradeIsHeldBackByARestoreAndForAQuarterOfAnHourAtMost(t *testing.T) {
	running := func(name string, ago time.Duration) dbv1.DatabaseCluster {
		return restored(name, dbv1.RestoreRunning, ago, ago)
	}
	fresh := running("fresh", 0)
	fresh.Status.Conditions, fresh.CreationTimestamp = nil, metav1.NewTime(now.Add(-time.Minute))
	leaving := running("leaving", time.Minute)
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	long := 20 * time.Minute

	cases := map[string]struct {
		clusters []dbv1.DatabaseCluster
		reason   string
		says     string
		again    time.Duration
	}{
		"no cluster":                          {nil, ReasonNothingInFlight, "no operation", 0},
		"a cluster that was not restored":     {[]dbv1.DatabaseCluster{{}}, ReasonNothingInFlight, "no operation", 0},
		"a restore that runs":                 {[]dbv1.DatabaseCluster{running("a", 5*time.Minute)}, ReasonRestoreInFlight, "shop/a; an upgrade waits for that until 2026-03-01T12:10:00Z", 10 * time.Minute},
		"one that has no conditions yet":      {[]dbv1.DatabaseCluster{fresh}, ReasonRestoreInFlight, "until 2026-03-01T12:14:00Z", 14 * time.Minute},
		"the last moment":                     {[]dbv1.DatabaseCluster{running("a", HeldAtMost-time.Second)}, ReasonRestoreInFlight, "shop/a", time.Second},
		"the moment after":                    {[]dbv1.DatabaseCluster{running("a", HeldAtMost)}, ReasonHeldLongEnough, "shop/a for longer than 15m0s", 0},
		"one that goes on after a standstill": {[]dbv1.DatabaseCluster{restored("a", dbv1.RestoreRunning, long, time.Minute)}, ReasonRestoreInFlight, "until 2026-03-01T12:14:00Z", 14 * time.Minute},
		"one that failed":                     {[]dbv1.DatabaseCluster{restored("a", dbv1.RestoreFailed, 0, 0)}, ReasonNothingInFlight, "no operation", 0},
		"one that is complete":                {[]dbv1.DatabaseCluster{restored("a", dbv1.RestoreCompleted, 0, 0)}, ReasonNothingInFlight, "no operation", 0},
		"one whose cluster is deleted":        {[]dbv1.DatabaseCluster{leaving}, ReasonNothingInFlight, "no operation", 0},
		"one that begins in the future":       {[]dbv1.DatabaseCluster{running("a", -time.Hour)}, ReasonHeldLongEnough, "shop/a", 0},
		"two, and a third that takes long": {
			[]dbv1.DatabaseCluster{running("b", 2*time.Minute), running("a", 7*time.Minute), running("c", long)}, ReasonRestoreInFlight,
			"shop/b and 1 more; an upgrade waits for that until 2026-03-01T12:13:00Z", 8 * time.Minute,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Judge(c.clusters, now)
			if got.Reason != c.reason || !strings.Contains(got.Message, c.says) || got.Again != c.again {
				t.Errorf("got %+v, want %s that says %q, again after %s", got, c.reason, c.says, c.again)
			}
			if held := c.reason == ReasonRestoreInFlight; (got.Status == metav1.ConditionFalse) != held || got.Status == metav1.ConditionUnknown {
				t.Errorf("Upgradeable is %s with the reason %s", got.Status, got.Reason)
			}
		})
	}
}

func TestTheSameRestoresGiveTheSameWordsInWhateverOrder(t *testing.T) {
	a, b := restored("a", dbv1.RestoreRunning, 0, 0), restored("b", dbv1.RestoreRunning, 0, 0)
	one, other := Judge([]dbv1.DatabaseCluster{a, b}, now), Judge([]dbv1.DatabaseCluster{b, a}, now)
	if one != other {
		t.Errorf("%+v is not %+v", one, other)
	}
}
