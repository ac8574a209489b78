/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// replicated is a world of two members with one database; the first is the primary, and the second has its data.
func replicated() BackupFacts {
	o := idleWorld()
	o.Engine.Spec.Topology = dbv1.TopologyPrimaryReplica
	o.Engine.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica"}
	o.Engine.Spec.State = &dbv1.EngineState{ConfigMaps: []string{"leader"}, Lock: &dbv1.EngineLock{ConfigMap: "leader", Holder: "holder", Term: "term"}}
	o.Members[0].Labels, o.Members[1].Labels = map[string]string{"role": "primary"}, map[string]string{"role": "replica"}
	o.Fresh = []string{"orders-1"}
	return o
}

func TestABackupOfOneDatabaseHasOneStream(t *testing.T) {
	b := asked()
	if p := For(b, replicated()); p.Status.Phase != dbv1.BackupRunning || p.Status.Replicas != 1 {
		t.Errorf("%s with %d members", p.Status.Phase, p.Status.Replicas)
	}
}

func TestTheSourceOfABackupIsAFreshReplicaElseThePrimary(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*BackupFacts)
		want   string
	}{
		"a fresh replica":                                         {func(*BackupFacts) {}, "orders-1.orders-headless"},
		"the primary, if no replica is ready":                     {func(o *BackupFacts) { o.Members[1].Ready = false }, "orders-0.orders-headless"},
		"the primary, if the replica is not fresh":                {func(o *BackupFacts) { o.Fresh = nil }, "orders-0.orders-headless"},
		"the primary, if the role of the other member is unknown": {func(o *BackupFacts) { o.Members[1].Labels = nil }, "orders-0.orders-headless"},
		"whatever its ordinal is": {func(o *BackupFacts) {
			o.Members[0].Labels, o.Members[1].Labels = o.Members[1].Labels, o.Members[0].Labels
			o.Members[0].Ready = false
		}, "orders-1.orders-headless"},
		"any member, if they agree by a majority": {func(o *BackupFacts) {
			o.Engine.Spec.Topology, o.Engine.Spec.Roles, o.Fresh = dbv1.TopologyConsensus, nil, nil
			o.Members[0].Ready = false
		}, "orders-1.orders-headless"},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := replicated(), started()
			b.Status.Replicas = 1
			c.change(&o)
			create, found := operation.Find[operation.Create](For(b, o).Operations)
			if !found {
				t.Fatal("no Job")
			}
			if got := variableOf(t, create.Objects[0].Object, "DBC_MEMBER"); got != c.want {
				t.Errorf("the source is %q, want %q", got, c.want)
			}
		})
	}
}

func TestABackupWaitsWhileNoMemberIsKnownToHaveTheLatestData(t *testing.T) {
	const unknown = "waiting for exactly one ready primary of DatabaseCluster orders: without it, no replica is known to have the latest data"
	for name, c := range map[string]struct {
		change func(*BackupFacts)
		want   string
	}{
		"the primary is not ready": {func(o *BackupFacts) { o.Members[0].Ready = false }, unknown},
		"the primary terminates":   {func(o *BackupFacts) { o.Members[0].Terminating = true }, unknown},
		"there are two primaries":  {func(o *BackupFacts) { o.Members[1].Labels = o.Members[0].Labels }, unknown},
		"no member is ready": {func(o *BackupFacts) { o.Members[0].Ready, o.Members[1].Ready = false, false },
			"waiting for pod orders-0 to be ready"},
	} {
		t.Run(name, func(t *testing.T) {
			o, running := replicated(), started()
			running.Status.Replicas, o.Fresh = 1, nil
			c.change(&o)
			for what, b := range map[string]*dbv1.DatabaseBackup{"new": asked(), "running": running} {
				p := For(b, o)
				if _, creates := operation.Find[operation.Create](p.Operations); creates || p.Why != c.want || p.RequeueAfter == 0 {
					t.Errorf("%s: %s: %s", what, p.Why, p.Operations)
				}
			}
		})
	}
}

func TestABackupStartsAlthoughMemberZeroIsDown(t *testing.T) {
	o := replicated()
	o.Members[0].Labels, o.Members[1].Labels = o.Members[1].Labels, o.Members[0].Labels
	o.Members[0].Ready, o.Fresh = false, nil
	if p := For(asked(), o); p.Status.Phase != dbv1.BackupRunning {
		t.Errorf("%s: %s", p.Status.Phase, p.Why)
	}
}

func variableOf(t *testing.T, job *unstructured.Unstructured, name string) string {
	t.Helper()
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	variables, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "env")
	for _, v := range variables {
		if v := v.(map[string]any); v["name"] == name {
			return v["value"].(string)
		}
	}
	return ""
}

func TestTheSourceOfAnOfflineBackupIsTheVolumeOfTheLastPrimary(t *testing.T) {
	volume := func(primary string, ordinals ...int32) map[string]state.Volume {
		all := map[string]state.Volume{}
		for _, ordinal := range ordinals {
			all[naming.ClaimIn(naming.DataVolume, "orders", ordinal)] = state.Volume{Contents: state.Contents{Cluster: idleWorld().Cluster.UID}}
		}
		first := all["data-orders-0"]
		first.Primary = primary
		all["data-orders-0"] = first
		return all
	}
	for name, c := range map[string]struct {
		volumes map[string]state.Volume
		want    string
	}{
		"it is recorded":                    {volume("orders-1", 0, 1), "data-orders-1"},
		"its member was removed before":     {volume("orders-4", 0, 1, 4), "data-orders-4"},
		"claims are unknown before a check": {nil, "data-orders-0"},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := replicated(), started()
			b.Status.Replicas = 1
			o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members, o.Volumes = &metav1.Time{}, 0, nil, c.volumes
			create, found := operation.Find[operation.Create](For(b, o).Operations)
			if !found {
				t.Fatal("no Job")
			}
			job := create.Objects[0].Object
			if got := claimOf(t, job); got != c.want || variableOf(t, job, "DBC_OFFLINE") != "true" {
				t.Errorf("the Job reads %q, want %q", got, c.want)
			}
			o.Jobs = []jobs.Job{{Name: job.GetName(), Component: dbv1.ComponentBackup, MadeFrom: job.GetAnnotations()[dbv1.AnnotationApplied]}}
			for _, volumes := range []map[string]state.Volume{c.volumes, nil} {
				o.Volumes = volumes
				if stop, stops := operation.Find[operation.Delete](For(b, o).Operations); stops {
					t.Errorf("%s, although its inputs are the same", stop)
				}
			}
		})
	}
}

func TestAnOfflineBackupFailsIfNoVolumeIsKnownToHaveEveryWrite(t *testing.T) {
	const retained = ". The volumes are retained. To back them up, skip the deletion hooks, and create a cluster of the same name: its members decide which of them continues"
	unknown := "no member of DatabaseCluster orders runs, and none is known to have every acknowledged write" + retained
	as := func(*BackupFacts) {}
	for name, c := range map[string]struct {
		primary string
		claims  []int32
		want    string
		change  func(*BackupFacts)
	}{
		"without a record":         {"", []int32{0, 1}, unknown, as},
		"a record of another name": {"ledger-1", []int32{0, 1}, unknown, as},
		"without claim 0":          {"", []int32{1}, unknown, as},
		"without its claim":        {"orders-1", []int32{0}, "pod orders-1 had every acknowledged write, but PersistentVolumeClaim data-orders-1 no longer exists" + retained, as},
		"a failover while the members stopped": {"", []int32{0, 1}, unknown, func(o *BackupFacts) {
			first := o.Volumes["data-orders-0"]
			first.Term = "7"
			o.Volumes["data-orders-0"] = first
			o.Agreements = []state.Agreement{{Cluster: o.Cluster.UID, Holder: "orders-1", Term: "7"}}
		}},
		"without a lock": {
			"orders-0", []int32{0, 1},
			"no member of DatabaseCluster orders runs, and without spec.state.lock of DatabaseEngine ledger-v1 it is unknown which volume has every acknowledged write" + retained,
			func(o *BackupFacts) { o.Engine.Spec.State.Lock = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := replicated(), started()
			b.Status.Replicas = 1
			o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members, o.Volumes = &metav1.Time{}, 0, nil, map[string]state.Volume{}
			for _, ordinal := range c.claims {
				v := state.Volume{Contents: state.Contents{Cluster: o.Cluster.UID}}
				if ordinal == 0 {
					v.Primary = c.primary
				}
				o.Volumes[naming.ClaimIn(naming.DataVolume, "orders", ordinal)] = v
			}
			c.change(&o)
			if p := For(b, o); p.Status.Phase != dbv1.BackupFailed || p.Why != c.want {
				t.Errorf("%s: %s", p.Status.Phase, p.Why)
			}
		})
	}
}

func claimOf(t *testing.T, job *unstructured.Unstructured) string {
	t.Helper()
	volumes, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "volumes")
	for _, v := range volumes {
		if claim, found, _ := unstructured.NestedString(v.(map[string]any), "persistentVolumeClaim", "claimName"); found {
			return claim
		}
	}
	return ""
}
