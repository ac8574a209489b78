/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestARestoreIsAnotherOneWithAnotherTarget(t *testing.T) {
	cluster := plans.Orders()
	beginsWith(cluster, &state.Observed{}, bucket)
	from := cluster.Spec.Bootstrap.FromBackup
	seen := map[string]string{}
	for name, target := range map[string]*dbv1.RecoveryTarget{
		"the backup": nil, "the end": {}, "a time": {Time: "2026-11-28T14:05:00Z"}, "a point": {Name: "before"}, "another point": {Name: "after"},
	} {
		from.RecoveryTarget = target
		id := situation.RestoreID(cluster, *from.Location, 2)
		if other := seen[id]; other != "" {
			t.Errorf("%s is the same restore as %s", name, other)
		}
		seen[id] = name
	}
}

func TestARestoreWaitsForAnEngineThatCanRecover(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	cluster.Spec.Bootstrap.FromBackup.RecoveryTarget = &dbv1.RecoveryTarget{Name: "before"}
	filling(cluster, &observed, 0, nil)
	for want, recovery := range map[string]*dbv1.EngineRecovery{
		"needs the action recover": nil, "but not to a named point": {Command: []string{"recover"}},
	} {
		observed.Engine.Spec.Actions.Recover = recovery
		if p := plans.Decide(cluster, observed); p.Stalled == nil || !strings.Contains(p.Stalled.Message, want) {
			t.Errorf("%s, stalled %+v, want %q", plans.Text(p), p.Stalled, want)
		}
	}
}
