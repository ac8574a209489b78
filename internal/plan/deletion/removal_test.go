/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestVolumesAreDeletedIfTheSpecAsksForItAndEveryHookHasSucceeded(t *testing.T) {
	hooks := []dbv1.HookType{dbv1.HookCommand}
	stopped := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Deletion.Volumes = dbv1.VolumesDelete
			*o.StatefulSet.Spec.Replicas, o.Members, o.Volumes = 0, nil, plans.KeptVolumes()
			o.Volumes[0].Cluster, o.Volumes[1].Cluster = plans.UID, plans.UID
			o.Hooks["run"] = jobs.Job{Name: "j", Succeeded: true}
			change(c, o)
		}
	}
	const (
		remove0   = "delete PersistentVolumeClaim data-orders-0: spec.deletion.volumes is Delete\n"
		remove1   = "delete PersistentVolumeClaim data-orders-1: spec.deletion.volumes is Delete\n"
		deleting0 = "Deleting: deleting, because spec.deletion.volumes is Delete: PersistentVolumeClaim data-orders-0"
		keptBoth  = "retained: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1"
		last      = "remove the finalizer\nDeleting: all members have stopped; "
		inUse     = "Deleting: waiting to delete volumes that pods still use: "
		nobody    = ". Delete the StatefulSet of these pods, or the pods if they have none. To keep the volumes, set spec.deletion.volumes to Retain\n"
	)
	decideDooms(t, map[string]doom{
		"they are deleted": {
			hooks, stopped(func(*dbv1.DatabaseCluster, *state.Observed) {}),
			remove0 + remove1 + deleting0 + ", PersistentVolumeClaim data-orders-1\nrun Succeeded\n",
		},
		"they are waited for": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes[0].Terminating, o.Volumes = true, o.Volumes[:1]
			}),
			deleting0 + "\nrun Succeeded\n",
		},
		"none remains": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = nil }), last + "no volumes remain\nrun Succeeded\n",
		},
		"the generated ServiceAccount is deleted last": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes, o.ServiceAccount = nil, &corev1.ServiceAccount{}
				o.ServiceAccount.Name, o.ServiceAccount.Labels = c.Name, map[string]string{dbv1.LabelClusterUID: plans.UID}
			}),
			"delete ServiceAccount orders: its cluster is deleted\n" + last + "no volumes remain\nrun Succeeded\n",
		},
		"the ServiceAccount of another cluster stays": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes, o.ServiceAccount = nil, &corev1.ServiceAccount{}
				o.ServiceAccount.Name, o.ServiceAccount.Labels = c.Name, map[string]string{dbv1.LabelClusterUID: "earlier"}
			}),
			last + "no volumes remain\nrun Succeeded\n",
		},
		"they stay by default": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Deletion.Volumes = dbv1.VolumesRetain }),
			last + keptBoth + "\nrun Succeeded\n",
		},
		"they stay after a hook that was skipped": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, o *state.Observed) { skip(c); o.Hooks["run"] = jobs.Job{} }), last + keptBoth + "\nrun Skipped\n",
		},
		"they stay after a hook that failed": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, o *state.Observed) { goOn(c); o.Hooks["run"] = jobs.Job{Failed: true} }),
			last + keptBoth + "\nrun Failed\n",
		},
		"they stay where it is not known how the hook ended": {
			hooks, stopped(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				delete(o.Hooks, "run")
				o.StatefulSet.Annotations[dbv1.AnnotationTerminating] = members.TerminatingMark(c)
			}),
			last + keptBoth + "\nrun Failed\n",
		},
		"those that are not the cluster's stay": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes[0].Cluster, o.Volumes[1].Managed = "earlier", false
			}),
			last + keptBoth + "\nrun Succeeded\n",
		},
		"pods of ended Jobs are deleted first, because they block the deletion of a claim": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes = o.Volumes[:1]
				o.Bystanders = []state.Bystander{
					{Name: "b", Component: dbv1.ComponentBackup, Cluster: plans.UID, Ended: true, Mounts: true},
					{Name: "asked", Component: dbv1.ComponentBackup, Cluster: plans.UID, Ended: true},
					{Name: "hook", Component: dbv1.ComponentHook, Cluster: plans.UID, Ended: true},
				}
			}),
			"delete Pod b: it blocks the deletion of a volume\n" + remove0 + deleting0 + "\nrun Succeeded\n",
		},
		"pods of the previous cluster whose volume was adopted, too": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes = o.Volumes[:1]
				o.Bystanders = []state.Bystander{
					{Name: "b", Component: dbv1.ComponentBackup, Cluster: "earlier", Ended: true, Mounts: true},
					{Name: "unknown", Component: dbv1.ComponentBackup, Ended: true, Mounts: true},
				}
			}),
			"delete Pod b: it blocks the deletion of a volume\n" + remove0 + deleting0 + "\nrun Succeeded\n",
		},
		"orphaned members of the previous cluster still use them": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet = nil
				o.Bystanders = []state.Bystander{{Name: "orders-0", Component: dbv1.ComponentDatabase, Cluster: "earlier", Orphan: true}}
			}),
			inUse + "orders-0\nagain in 1m0s\nSTALLED NameConflict\n" +
				"waiting to delete volumes that pods still use: orders-0" + nobody + "run Succeeded\n",
		},
		"members of an orphaned StatefulSet still use them": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members = nil, []state.Member{{Name: "orders-0", Owner: "orphan", Ready: true}}
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
			}),
			inUse + "orders-0\nagain in 10s\nSTALLED NameConflict\n" +
				"waiting to delete volumes that pods still use: orders-0" + nobody + "run Succeeded\n",
		},
		"one that still runs is waited for": {
			hooks, stopped(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Bystanders = []state.Bystander{{Name: "b", Component: dbv1.ComponentBackup, Cluster: plans.UID}}
			}),
			"Deleting: waiting to delete volumes that pods still use: b\nagain in 1m0s\nrun Succeeded\n",
		},
	})
}

func TestTheCauseOfVolumesRetainedAgainstTheSpecIsReported(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	skip(cluster)
	cluster.Spec.Deletion.Volumes = dbv1.VolumesDelete
	*observed.StatefulSet.Spec.Replicas, observed.Members, observed.Volumes = 0, nil, plans.KeptVolumes()[:1]
	observed.Volumes[0].Cluster = plans.UID
	p := plans.Decide(cluster, observed)
	if plans.Disrupts(p) || len(p.Hooks) != 1 || p.Message != "all members have stopped; recording the results of the deletion hooks" {
		t.Errorf("the cluster goes before the status says how its hooks ended: %s", report(p))
	}
	cluster.Status.Hooks = p.Hooks
	last, ok := operation.Find[operation.Finalizer](plans.Decide(cluster, observed).Operations)
	want := `spec.deletion.volumes is Delete, but deletion hooks did not succeed: "run" (Skipped); retained: PersistentVolumeClaim data-orders-0`
	if !ok || last.Event.Note != want {
		t.Errorf("got %q, want %q", last.Event.Note, want)
	}
}

func TestVolumesThatTheFinalBackupDoesNotContainAreRetained(t *testing.T) {
	for name, c := range map[string]struct {
		done []int32
		want string
	}{
		"it contains one member":   {[]int32{0}, "PersistentVolumeClaim data-orders-0"},
		"it contains both members": {[]int32{0, 1}, "PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := fencedOff(t)
			final := observed.HookBackups["last"]
			final.Members, final.Done = int32(len(c.done)), c.done
			observed.HookBackups["last"] = final
			if p := plans.Decide(cluster, observed); p.Message != "deleting, because spec.deletion.volumes is Delete: "+c.want || !p.LiveRead() {
				t.Error(report(p))
			}
			if len(c.done) == 2 {
				return
			}
			observed.Volumes = observed.Volumes[1:]
			last, ok := operation.Find[operation.Finalizer](plans.Decide(cluster, observed).Operations)
			want := "spec.deletion.volumes is Delete, but the last backup does not contain the data of members that were removed before it; retained: PersistentVolumeClaim data-orders-1"
			if !ok || last.Event.Note != want {
				t.Errorf("got %q, want %q", last.Event.Note, want)
			}
		})
	}
}
