/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// fencedOff returns a cluster whose volumes are about to be deleted: its two members have stopped, and a later backup
// contains both.
func fencedOff(t *testing.T) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	cluster, observed := doomed(t, dbv1.HookBackup)
	cluster.Spec.Deletion.Volumes, cluster.Spec.Replicas = dbv1.VolumesDelete, 2
	cluster.Status.Hooks = []dbv1.HookStatus{{Name: "last", Phase: dbv1.HookSucceeded}}
	*observed.StatefulSet.Spec.Replicas, observed.Members, observed.Volumes = 0, nil, plans.KeptVolumes()
	observed.Volumes[0].Cluster, observed.Volumes[1].Cluster = plans.UID, plans.UID
	observed.HookBackups["last"] = state.HookBackup{
		Name: fencedName(cluster, observed), Created: metav1.NewTime(plans.Now.Add(-time.Minute)), Phase: dbv1.BackupCompleted,
		Cluster: plans.UID, Fence: observed.Fence(), Members: 2, Done: []int32{0, 1},
	}
	return cluster, observed
}

func fencedName(cluster *dbv1.DatabaseCluster, observed state.Observed) string {
	return naming.FencedBackup(cluster.Name, "last", cluster.UID, observed.Fence())
}

func deletes(p plan.Plan, kind string) bool {
	return slices.ContainsFunc(plans.Removals(p), func(r operation.Removal) bool { return r.Kind.Kind == kind })
}

func TestMembersStopBeforeABackupAfterWhichTheirVolumesAreDeleted(t *testing.T) {
	const stops = `deletion hook "last" stops all members before the backup, because spec.deletion.volumes is Delete: `
	hooks := []dbv1.HookType{dbv1.HookBackup}
	doomedVolumes := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Deletion.Volumes = dbv1.VolumesDelete
			change(c, o)
		}
	}
	lost := func(o *state.Observed, since time.Duration) {
		*o.StatefulSet.Spec.Replicas = 2
		o.Members[2].Terminating, o.Members[2].StopBy = true, metav1.NewTime(plans.Now.Add(-since))
	}
	decideDooms(t, map[string]doom{
		"they stop one by one, although all are ready": {
			hooks, doomedVolumes(func(*dbv1.DatabaseCluster, *state.Observed) {}),
			"scale in to 2\nHookRunning: " + stops + "scaling in from 3 to 0 members, one at a time\nlast Running\n",
		},
		"their ends are recorded where a hook asks for it": {
			[]dbv1.HookType{dbv1.HookBackup, dbv1.HookShutdown}, doomedVolumes(func(*dbv1.DatabaseCluster, *state.Observed) {}),
			"add the finalizer to pod orders-2\nHookRunning: " + stops + "adding the finalizer to pod orders-2, to record the exit code of its database\nlast Running\nstop Pending\n",
		},
		"an exit code is recorded before that hook starts": {
			[]dbv1.HookType{dbv1.HookBackup, dbv1.HookShutdown}, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				lost(o, 0)
				o.Members[2].HasFinalizer, o.Members[2].End = true, state.End{Reached: true, Known: true, Code: 137}
			}),
			"HookRunning: " + stops + "pod orders-2 is terminating\nlast Running\nstop Pending orders-2=137\n",
		},
		"one that does not stop is waited for": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) { lost(o, time.Minute) }),
			"HookRunning: " + stops + "pod orders-2 is terminating\nagain in 9m0s\nlast Running\n",
		},
		"one that does not stop at all blocks": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) { lost(o, 11*time.Minute) }),
			"HookFailed: deletion hook \"last\" failed: pod orders-2 did not stop within spec.deletion.hookDeadlineSeconds (600 s) after its grace period\nSTALLED HookFailed\n" +
				"deletion hook \"last\" failed: pod orders-2 did not stop within spec.deletion.hookDeadlineSeconds (600 s) after its grace period. " +
				"Recover the node of the pod, or delete the Node object if the node is lost" + skipNote + "\nlast Failed\n",
		},
		"members still run if no backup is possible": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine = nil }),
			"HookFailed: deletion hook \"last\" cannot start: DatabaseEngine ledger-v1, which spec.engine names, does not exist\nagain in 10s\nSTALLED HookFailed\n" +
				"deletion hook \"last\" cannot start: DatabaseEngine ledger-v1, which spec.engine names, does not exist. Create it" + skipNote + "\nlast Failed\n",
		},
		"nothing starts before the controller has seen that": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o.StatefulSet.Spec.Replicas, o.Members = 0, nil
				o.StatefulSet.Generation = o.StatefulSet.Status.ObservedGeneration + 1
			}),
			"HookRunning: deletion hook \"last\" waits until the StatefulSet controller has observed the scale to 0 replicas\nlast Running\n",
		},
		"nor while the StatefulSet is being deleted": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o.StatefulSet.Spec.Replicas, o.Members = 0, nil
				o.StatefulSet.DeletionTimestamp = &metav1.Time{Time: plans.Now}
			}),
			"HookRunning: deletion hook \"last\" waits until StatefulSet orders is deleted, because it may create pods until then\nlast Running\n",
		},
		"a StatefulSet of another owner blocks": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members = nil, nil
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
			}),
			"HookFailed: deletion hook \"last\" cannot start: StatefulSet orders may write to the volumes and is not controlled by this cluster\nagain in 10s\nSTALLED NameConflict\n" +
				"deletion hook \"last\" cannot start: StatefulSet orders may write to the volumes and is not controlled by this cluster. " +
				"Delete StatefulSet orders, or set spec.deletion.volumes to Retain" + skipNote + "\nlast Failed\n",
		},
		"the backup follows": {
			hooks, doomedVolumes(func(_ *dbv1.DatabaseCluster, o *state.Observed) { *o.StatefulSet.Spec.Replicas, o.Members = 0, nil }),
			"start deletion hook \"last\" as DatabaseBackup orders-last-96d09e76\nHookRunning: starting deletion hook \"last\"\nlast Running\n",
		},
		"members of a cluster without volumes are asked": {
			hooks, doomedVolumes(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Storage.Ephemeral = new(true) }),
			"start deletion hook \"last\" as DatabaseBackup " + backup + "\nHookRunning: starting deletion hook \"last\"\nlast Running\n",
		},
	})
}

func TestAVolumeIsDeletedOnlyWhileABackupOfItsLastWriteExists(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed, *state.HookBackup)
		want   string
	}{
		"it contains the write": {func(*dbv1.DatabaseCluster, *state.Observed, *state.HookBackup) {}, "deleting, because spec.deletion.volumes is Delete: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1"},
		"it is being deleted": {func(_ *dbv1.DatabaseCluster, _ *state.Observed, b *state.HookBackup) { b.Ending = true },
			`deletion hook "last" waits until its previous DatabaseBackup orders-last-96d09e76 is deleted`},
		"it does not exist": {func(_ *dbv1.DatabaseCluster, o *state.Observed, _ *state.HookBackup) { o.HookBackups = nil }, `starting deletion hook "last"`},
		"its fence is another": {func(_ *dbv1.DatabaseCluster, _ *state.Observed, b *state.HookBackup) { b.Fence = "set/1" },
			`deletion hook "last" failed: DatabaseBackup orders-last-96d09e76 does not contain the latest data of this cluster: it did not start after the members had stopped`},
		"it was taken of members that ran": {func(_ *dbv1.DatabaseCluster, _ *state.Observed, b *state.HookBackup) { b.Fence = "" },
			`deletion hook "last" failed: DatabaseBackup orders-last-96d09e76 does not contain the latest data of this cluster: it did not start after the members had stopped`},
		"it belongs to another cluster": {func(_ *dbv1.DatabaseCluster, _ *state.Observed, b *state.HookBackup) { b.Cluster = "other" },
			`deletion hook "last" failed: DatabaseBackup orders-last-96d09e76 does not contain the latest data of this cluster: it belongs to another cluster`},
		"it has a destination of its own": {func(_ *dbv1.DatabaseCluster, _ *state.Observed, b *state.HookBackup) { b.Elsewhere = true },
			`deletion hook "last" failed: DatabaseBackup orders-last-96d09e76 does not contain the latest data of this cluster: it has its own spec.destination`},
		"a member runs again": {func(_ *dbv1.DatabaseCluster, o *state.Observed, b *state.HookBackup) {
			*o.StatefulSet.Spec.Replicas, o.Members = 1, []state.Member{{Name: "orders-0", Ready: true}}
			o.HookBackups = nil // it is read by the fence
		}, `deletion hook "last" stops all members before the backup, because spec.deletion.volumes is Delete: scaling in from 1 to 0 members, one at a time`},
		"it is deleted while volumes are terminating": {func(_ *dbv1.DatabaseCluster, o *state.Observed, _ *state.HookBackup) {
			o.HookBackups, o.Volumes[0].Terminating = nil, true
		}, `deletion hook "last" failed: its DatabaseBackup no longer exists, and PersistentVolumeClaim data-orders-0 is already terminating, so no backup can contain its data. The operator deletes no other volume`},
		"it is deleted, and so are all volumes": {func(_ *dbv1.DatabaseCluster, o *state.Observed, _ *state.HookBackup) {
			o.HookBackups, o.Volumes = nil, nil
		}, "all members have stopped; no volumes remain"},
		"it is deleted, and the volumes are retained": {func(c *dbv1.DatabaseCluster, o *state.Observed, _ *state.HookBackup) {
			o.HookBackups, c.Spec.Deletion.Volumes = nil, dbv1.VolumesRetain
		}, "all members have stopped; retained: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1"},
		"the members have begun to stop for good, which does not matter": {func(c *dbv1.DatabaseCluster, o *state.Observed, _ *state.HookBackup) {
			o.HookBackups, o.StatefulSet.Annotations[dbv1.AnnotationTerminating] = nil, members.TerminatingMark(c)
		}, `starting deletion hook "last"`},
		"it failed, and failures do not count": {func(c *dbv1.DatabaseCluster, o *state.Observed, b *state.HookBackup) {
			goOn(c)
			b.Fence, c.Status.Hooks[0].Phase = "", dbv1.HookFailed
		}, "all members have stopped; retained: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := fencedOff(t)
			final := observed.HookBackups["last"]
			c.change(cluster, &observed, &final)
			if observed.HookBackups != nil {
				observed.HookBackups["last"] = final
			}
			p := plans.Decide(cluster, observed)
			if p.Message != c.want || deletes(p, "PersistentVolumeClaim") != strings.HasPrefix(c.want, "deleting") {
				t.Error(report(p))
			}
		})
	}
}

func TestAHookThatHasSucceededDoesNotRunAgainBecauseTheBackupBeforeItDoes(t *testing.T) {
	cluster, observed := fencedOff(t)
	cluster.Spec.Deletion.Hooks = append(cluster.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: "run", Type: dbv1.HookCommand})
	cluster.Status.Hooks = append(cluster.Status.Hooks, dbv1.HookStatus{Name: "run", Phase: dbv1.HookSucceeded})
	observed.HookBackups = nil
	if p := plans.Decide(cluster, observed); p.Hooks[0].Phase != dbv1.HookRunning || p.Hooks[1].Phase != dbv1.HookSucceeded {
		t.Error(report(p))
	}
}
