/*
SPDX-License-Identifier: Apache-2.0
*/

package situation_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// replaced is a converged cluster of three members with data of their own, for which a DatabaseRestore has filled other volumes.
func replaced(t *testing.T) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	c := plans.Orders()
	c.Spec.Engine = "ledger"
	o := plans.Standing(t, c)
	o.Engine = &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger"}, Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyIndependent}}
	o.Engine.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"restore"}}
	template := naming.RestoredTemplate("r1")
	o.Replacement = &state.Replacement{
		Restore: dbv1.ReplacementRestoreRef{Name: "yesterday", UID: "r1"}, Template: template, Asked: true,
		Source: &dbv1.BackupSource{Location: &dbv1.BackupDestination{URL: "s3://bucket/first", CredentialsSecretName: "keys"}},
	}
	for ordinal := range int32(3) {
		o.Replacement.Volumes = append(o.Replacement.Volumes, state.Volume{
			Claim: naming.ClaimIn(template, "orders", ordinal), UID: types.UID(fmt.Sprint("other", ordinal)), Ordinal: ordinal, Managed: true, Capacity: resource.MustParse("1Gi"),
			Contents: state.Contents{Cluster: plans.UID, Engine: "ledger", Fill: state.Filled, From: "s3://bucket/first"},
		})
	}
	return c, o
}

func TestMembersStopOnlyForCompleteVolumes(t *testing.T) {
	cases := map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		stop   bool
	}{
		"they are complete":                 {func(*dbv1.DatabaseCluster, *state.Observed) {}, true},
		"one is being filled":               {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Volumes[2].Fill = state.Filling }, false},
		"one is missing":                    {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Volumes = o.Replacement.Volumes[:2] }, false},
		"one is being deleted":              {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Volumes[1].Terminating = true }, false},
		"none exists":                       {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Volumes = nil }, false},
		"nobody asks any more":              {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Asked = false }, false},
		"the engine is unknown":             {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine = nil }, false},
		"the cluster is being deleted":      {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.DeletionTimestamp = new(metav1.Now()) }, false},
		"they are those from before":        {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Source = nil }, true},
		"one with data from before is lost": {lostFromBefore, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, seen := replaced(t)
			c.change(cluster, &seen)
			if s := situation.Of(cluster, seen); s.Switches() != c.stop || (s.Wanted == 0) != c.stop {
				obstacle := ""
				if s.Next != nil {
					obstacle = s.Next.Obstacle()
				}
				t.Errorf("it switches: %t, with %d members: %s", s.Switches(), s.Wanted, obstacle)
			}
		})
	}
}

// lostFromBefore is a retained volume that no longer exists, although the status records its data.
func lostFromBefore(c *dbv1.DatabaseCluster, o *state.Observed) {
	o.Replacement.Source = nil
	c.Status.Volumes = []dbv1.VolumeRecord{{Claim: o.Replacement.Volumes[2].Claim, UID: "other2"}}
	o.Replacement.Volumes = o.Replacement.Volumes[:2]
}

func TestTheStatusRecordsTheVolumesInUseAndTheRetainedOnes(t *testing.T) {
	c, o := replaced(t)
	for ordinal := range int32(3) {
		o.Volumes = append(o.Volumes, state.Volume{
			Claim: naming.Claim(c, ordinal), UID: types.UID(fmt.Sprint("used", ordinal)), Ordinal: ordinal, Managed: true, Capacity: resource.MustParse("1Gi"),
			Contents: state.Contents{Cluster: plans.UID, Engine: "ledger", Fill: state.Filled, From: "s3://bucket/long-ago"},
		})
	}
	c.Status.Volumes = situation.Of(c, o).VolumeRecords(nil)
	if len(c.Status.Volumes) != 6 {
		t.Errorf("records %+v", c.Status.Volumes)
	}
	o.Replacement = nil
	if left := situation.Of(c, o).VolumeRecords(nil); len(left) != 3 || left[0].Claim != "data-orders-0" {
		t.Errorf("after the DatabaseRestore is deleted: %+v", left)
	}
}

// A pod of the archive would store the log of the other volumes as that of these.
func TestTheSwitchWaitsForThePodOfTheArchive(t *testing.T) {
	for name, c := range map[string]struct {
		bystander state.Bystander
		switched  bool
	}{
		"none":         {state.Bystander{Name: "look", Component: dbv1.ComponentRecovery}, true},
		"it runs":      {state.Bystander{Name: "archive", Component: dbv1.ComponentArchive}, false},
		"it has ended": {state.Bystander{Name: "archive", Component: dbv1.ComponentArchive, Ended: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, seen := replaced(t)
			seen.StatefulSet, seen.Members, seen.Bystanders = nil, nil, []state.Bystander{c.bystander}
			s := situation.Of(cluster, seen)
			if !s.Detached() || s.Switched() != c.switched {
				t.Errorf("detached: %t, switched: %t", s.Detached(), s.Switched())
			}
		})
	}
}
