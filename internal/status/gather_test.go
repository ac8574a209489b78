/*
SPDX-License-Identifier: Apache-2.0
*/

package status_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// reported returns a status with conditions: "Ready" is True, "-Ready" is False.
func reported(all ...string) *dbv1.DatabaseClusterStatus {
	s := &dbv1.DatabaseClusterStatus{}
	for _, kind := range all {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "R", Message: "m"}
		if kind[0] == '-' {
			c.Type, c.Status = kind[1:], metav1.ConditionFalse
		}
		s.Conditions = append(s.Conditions, c)
	}
	return s
}

func with(s *dbv1.DatabaseClusterStatus, change func(*dbv1.DatabaseClusterStatus)) *dbv1.DatabaseClusterStatus {
	change(s)
	return s
}

func applying(s *dbv1.DatabaseClusterStatus) { s.Conditions[2].Reason = dbv1.ReasonApplying }

func recorded(s *dbv1.DatabaseClusterStatus) {
	s.Volumes = []dbv1.VolumeRecord{{Claim: "data-orders-1", UID: "1"}}
}

func bound(version string) func(*dbv1.DatabaseClusterStatus) {
	return func(s *dbv1.DatabaseClusterStatus) {
		s.Binding = &dbv1.ClusterBinding{Name: "orders-connection", ResourceVersion: version}
	}
}

func TestOnlyChangesThatNoDecisionNeedsAreDeferrable(t *testing.T) {
	starting := []string{"-Ready", "-Available", "Progressing", "-Degraded", "-Stalled"}
	idle := []string{"Ready", "Available", "-Progressing", "-Degraded", "-Stalled"}
	for name, c := range map[string]struct {
		before, after *dbv1.DatabaseClusterStatus
		waits         bool
	}{
		"the first status":            {reported(), with(reported(starting...), func(s *dbv1.DatabaseClusterStatus) { s.ObservedGeneration = 1 }), true},
		"a first status with a stall": {reported(), reported("-Ready", "-Available", "Progressing", "-Degraded", "Stalled"), false},
		"members and numbers": {reported(starting...), with(reported(starting...), func(s *dbv1.DatabaseClusterStatus) {
			s.Replicas, s.ReadyReplicas, s.Members = 3, 1, []dbv1.MemberStatus{{Pod: "orders-0"}}
		}), true},
		"a text and its reason": {reported(starting...), with(reported(starting...), func(s *dbv1.DatabaseClusterStatus) {
			s.Conditions[2].Reason, s.Conditions[2].Message = "Other", "other"
		}), true},
		"a repair": {reported(idle...), with(reported("-Ready", "Available", "Progressing", "-Degraded", "-Stalled"), applying), true},
		"a repair after the members were lost": {
			reported(idle...), with(reported("-Ready", "-Available", "Progressing", "-Degraded", "-Stalled"), applying), false,
		},
		"a repair that needs a person": {
			reported(idle...), with(reported("-Ready", "Available", "Progressing", "-Degraded", "Stalled"), applying), false,
		},
		"a new spec": {reported(idle...), with(reported("-Ready", "Available", "Progressing", "-Degraded", "-Stalled"), func(s *dbv1.DatabaseClusterStatus) {
			applying(s)
			s.Conditions[2].ObservedGeneration = 2
		}), false},
		"ready":                          {reported(starting...), reported(idle...), false},
		"the end of being ready":         {reported(idle...), reported("-Ready", "Available", "Progressing", "-Degraded", "-Stalled"), false},
		"available in a rollout":         {reported(starting...), reported("-Ready", "Available", "Progressing", "-Degraded", "-Stalled"), false},
		"a member stops in a rollout":    {reported("-Ready", "Available", "Progressing", "-Degraded", "-Stalled"), reported(starting...), false},
		"not available without a reason": {reported(idle...), reported("Ready", "-Available", "-Progressing", "-Degraded", "-Stalled"), false},
		"a member that fails":            {reported(starting...), reported("-Ready", "-Available", "Progressing", "Degraded", "-Stalled"), false},
		"a condition of its own":         {reported(idle...), reported(append(idle, "Paused")...), false},
		"another primary":                {reported(idle...), with(reported(idle...), func(s *dbv1.DatabaseClusterStatus) { s.Primary = "orders-1" }), false},
		"the revision of the template":   {reported(starting...), with(reported(starting...), func(s *dbv1.DatabaseClusterStatus) { s.UpdateRevision = "orders-1" }), false},
		"a request": {reported(idle...), with(reported(idle...), func(s *dbv1.DatabaseClusterStatus) {
			s.Requests = []dbv1.ClusterRequestStatus{{Type: dbv1.RequestRebuild, State: dbv1.RequestAccepted}}
		}), false},
		"a volume with data":               {reported(idle...), with(reported(idle...), recorded), true},
		"a volume that no longer has data": {with(reported(idle...), recorded), reported(idle...), false},
		"the first connection Secret":      {reported(idle...), with(reported(idle...), bound("")), false},
		"a change of the connection Secret": {
			with(reported(idle...), bound("1")), with(reported(idle...), bound("2")), true,
		},
		"a deletion hook": {reported(idle...), with(reported(idle...), func(s *dbv1.DatabaseClusterStatus) {
			s.Hooks = []dbv1.HookStatus{{Name: "final"}}
		}), false},
	} {
		if got := status.Deferrable(c.before, c.after); got != c.waits {
			t.Errorf("%s: waits is %v", name, got)
		}
	}
}

func TestTheFirstStatusOfAClusterThatStartsIsIgnorable(t *testing.T) {
	before := &dbv1.DatabaseClusterStatus{ObservedGeneration: -1}
	after := reported("Ready", "Available", "-Progressing", "-Degraded", "-Stalled")
	after.Replicas, after.ReadyReplicas, after.UpdateRevision, after.ObservedGeneration = 3, 3, "orders-1", 1
	if !status.Ignorable(before, after) {
		t.Error("the write of the first status starts a pass")
	}
	for name, decisive := range map[string]func(*dbv1.DatabaseClusterStatus){
		"another primary": func(s *dbv1.DatabaseClusterStatus) { s.Primary = "orders-1" },
		"a restore": func(s *dbv1.DatabaseClusterStatus) {
			s.Restore = &dbv1.ClusterRestoreStatus{Phase: dbv1.RestoreCompleted}
		},
		"a hook": func(s *dbv1.DatabaseClusterStatus) { s.Hooks = []dbv1.HookStatus{{Name: "final"}} },
		"a request": func(s *dbv1.DatabaseClusterStatus) {
			s.Requests = []dbv1.ClusterRequestStatus{{Type: dbv1.RequestHandOver}}
		},
		"a configuration": func(s *dbv1.DatabaseClusterStatus) { s.Configuration = &dbv1.ClusterConfigurationStatus{} },
		"a suspicion": func(s *dbv1.DatabaseClusterStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: dbv1.ConditionSplitBrainSuspected})
		},
		"a completed backup": func(s *dbv1.DatabaseClusterStatus) { s.Backup = &dbv1.ClusterBackupStatus{LastCompletedBackup: "now"} },
	} {
		changed := after.DeepCopy()
		decisive(changed)
		if status.Ignorable(after, changed) {
			t.Errorf("%s starts no pass", name)
		}
	}
}
