/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestVolumesOfAPreviousClusterOfTheSameName(t *testing.T) {
	const taken = "adopt PersistentVolumeClaim data-orders-0\nadopt PersistentVolumeClaim data-orders-1\n"
	recreated := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			o.StatefulSet, o.Members, o.Volumes = nil, nil, plans.KeptVolumes()
			change(c, o)
		}
	}
	decideEach(t, map[string]scenario{
		"they are adopted before the members are created": {
			recreated(func(*dbv1.DatabaseCluster, *state.Observed) {}),
			taken + "AdoptingVolumes: adopting PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"those of the same engine, too": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.Engine, o.Volumes[0].Engine, o.Volumes[1].Engine = "other-v1", &dbv1.DatabaseEngine{}, "other-v1", "other-v1"
			}),
			taken + "AdoptingVolumes: adopting PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"none while one contains data of another engine": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.Engine, o.Volumes[0].Engine = "other-v1", &dbv1.DatabaseEngine{}, "other-v1"
			}),
			"AdoptingVolumes: PersistentVolumeClaim data-orders-1 of the previous cluster of the same name contains data of an unknown engine, but spec.engine is \"other-v1\". " +
				"Delete the claim, or change spec.engine or the cluster's name. If the claim records the wrong engine, correct its annotation database.dbcluster.io/engine\n" +
				"STALLED VolumeConflict\n",
		},
		"none while one is being deleted": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[1].Terminating = true }),
			"AdoptingVolumes: PersistentVolumeClaim data-orders-1 of the previous cluster of the same name is terminating. " +
				"Wait until it is deleted; its member then starts with an empty volume. Or give the cluster another name\nSTALLED VolumeConflict\n",
		},
		"none grows that is not adopted": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Storage.Size, o.Volumes = resource.MustParse("2Gi"), o.Volumes[:1]
				o.Volumes[0].Requested, o.Volumes[0].Capacity = resource.MustParse("1Gi"), resource.MustParse("1Gi")
				o.Volumes[0].Fill, o.Volumes[0].From = state.Filling, "restore"
			}),
			"AdoptingVolumes: PersistentVolumeClaim data-orders-0 of the previous cluster of the same name contains only part of its first data: " +
				"its restore or its creation did not finish. Delete the claim. To restore again, also delete the cluster and re-create it with spec.bootstrap.fromBackup\nSTALLED VolumeConflict\n",
		},
		"none while one contains part of a backup": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes[1].Fill, o.Volumes[1].From = state.Filling, "restore"
			}),
			"AdoptingVolumes: PersistentVolumeClaim data-orders-1 of the previous cluster of the same name contains only part of its first data: " +
				"its restore or its creation did not finish. Delete the claim. To restore again, also delete the cluster and re-create it with spec.bootstrap.fromBackup\nSTALLED VolumeConflict\n",
		},
		"none where a backup is to be restored": {
			recreated(func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "last"}}
			}),
			"AdoptingVolumes: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1: retained from the previous cluster of the same name, " +
				"and spec.bootstrap.fromBackup never overwrites data. Delete these claims if you do not need their data, or remove spec.bootstrap to start with these volumes\nagain in 10s\nSTALLED VolumeConflict\n",
		},
		"none while a pod of the previous cluster still runs": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Bystanders = []state.Bystander{
					{Name: "done", Cluster: "earlier", Component: dbv1.ComponentBackup, Ended: true},
					{Name: "hook", Cluster: "earlier", Component: dbv1.ComponentHook},
					{Name: "ours", Cluster: plans.UID, Component: dbv1.ComponentBackup},
					{Name: "orders-1", Cluster: "earlier", Component: dbv1.ComponentDatabase},
				}
			}),
			"WaitingForPreviousCluster: pod orders-1 of the previous cluster of the same name still runs; the operator adopts the volumes when it has terminated\nagain in 1m0s\n",
		},
		"they are adopted with members without a controller, which the StatefulSet adopts": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Bystanders = []state.Bystander{{Name: "orders-1", Cluster: "earlier", Component: dbv1.ComponentDatabase, Orphan: true}}
			}),
			taken + "AdoptingVolumes: adopting PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"none while an orphaned StatefulSet of the name exists, even without pods": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
			}),
			"WaitingForPreviousCluster: a StatefulSet of another owner creates the pods that use the volumes; the operator adopts the volumes when it is deleted\n" +
				"again in 10s\nSTALLED NameConflict\n",
		},
		"none while a final backup of the previous cluster may be retried": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.PreviousJobs = []string{"orders-backup-1c2d3e4f-0"}
			}),
			"WaitingForPreviousCluster: Job orders-backup-1c2d3e4f-0 of the previous cluster of the same name still runs; the operator adopts the volumes when it has terminated\nagain in 1m0s\n",
		},
		"none while an object of the previous cluster is terminating": {
			recreated(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders", OfPreviousCluster: true}}
			}),
			"WaitingForPreviousCluster: waiting until Kubernetes has deleted StatefulSet orders of the previous cluster of the same name\nagain in 2s\n",
		},
		"nothing with what only looks like it": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes = plans.KeptVolumes()
				o.Volumes[0].Managed, o.Volumes[1].Unwatched = false, true
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"members that run already with such a volume keep it, and it becomes theirs": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = plans.KeptVolumes() },
			taken + "UpToDate: the cluster matches its spec\n",
		},
		"none that came later and contains part of a backup": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Volumes = plans.KeptVolumes()
				o.Volumes[0].Fill, o.Volumes[1].Fill = state.Filling, state.Filling
			},
			"UpToDate: the cluster matches its spec\nSTALLED VolumeConflict\n",
		},
		"one above spec.replicas does not matter, whatever it contains": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				o.Volumes[1].Engine = "ledger-v1"
			}),
			"adopt PersistentVolumeClaim data-orders-0\nAdoptingVolumes: adopting PersistentVolumeClaim data-orders-0\n",
		},
		"nor if it is terminating": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				o.Volumes[1].Terminating = true
			}),
			"adopt PersistentVolumeClaim data-orders-0\nAdoptingVolumes: adopting PersistentVolumeClaim data-orders-0\n",
		},
		"one that later members can use is adopted with the others": {
			recreated(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 }),
			taken + "AdoptingVolumes: adopting PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"a restore needs only the names of its members": {
			recreated(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "last"}}
				c.Spec.Replicas, o.Volumes = 1, o.Volumes[1:]
			}),
			"WaitingForReference: spec.bootstrap.fromBackup needs an engine with the action restore: set spec.engine to one, or remove the field\n" +
				"again in 10s\nSTALLED ActionMissing\n", // nothing about the claim
		},
		"a cluster does not scale out to one that it has not adopted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas, o.Volumes = 5, plans.KeptVolumes()[1:]
				o.Volumes[0].Claim, o.Volumes[0].Ordinal = "data-orders-4", 4
			},
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\nSTALLED VolumeConflict\n",
		},
		"but to those before it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas, o.Volumes = 4, plans.KeptVolumes()[1:]
				o.Volumes[0].Claim, o.Volumes[0].Ordinal, o.Volumes[0].Engine = "data-orders-3", 3, "ledger-v1"
			},
			"WaitingForMembers: 3 of 4 members are ready\nSTALLED VolumeConflict\n",
		},
		"nothing while the cluster is paused": {
			recreated(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }),
			"Paused: spec.paused is true; pending: adopting PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
	})
}

func TestVolumesAreAdoptedOnlyAfterALiveRead(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	observed.StatefulSet, observed.Members, observed.Volumes = nil, nil, plans.KeptVolumes()
	p := plans.Decide(cluster, observed)
	if !p.LiveRead() || !p.Pending {
		t.Errorf("delicate %v, pending %v", p.LiveRead(), p.Pending)
	}
	for _, o := range p.Operations {
		if strings.Contains(o.String(), "StatefulSet") {
			t.Errorf("%s before the volumes are the cluster's", o)
		}
	}
}

func TestAClusterWithoutVolumesAdoptsNone(t *testing.T) {
	cluster := plans.Orders()
	cluster.Spec.Storage.Ephemeral = new(true)
	observed := plans.Standing(t, cluster)
	observed.Volumes = plans.KeptVolumes()
	if adopt, adopts := plans.Find[operation.Change](plans.Decide(cluster, observed), "adopt "); adopts {
		t.Errorf("adopts %v", adopt)
	}
}

func TestTheEngineOnAClaimIsThatOfTheLastMemberThatRanWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   string
	}{
		"a member has started from a template of another": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Engine, o.Members[0].Started = "ledger-v2", true
		}, "ledger-v2"},
		"it has not started yet": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[0].Engine = "ledger-v2" }, ""},
		"it is of an operator that did not say so yet": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Started = true
		}, ""},
		"another member has started": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[1].Engine, o.Members[1].Started = "ledger-v2", true
		}, ""},
		"the cluster hibernates": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members = nil }, ""},
		"it runs the engine on the claim": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Engine, o.Members[0].Started = "ledger-v1", true
		}, ""},
		"it is no claim of the operator's": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Engine, o.Members[0].Started, o.Volumes[0].Managed = "ledger-v2", true, false
		}, ""},
		"the owner of the data was unknown": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Engine, o.Members[0].Started, o.Volumes[0].Engine = "ledger-v2", true, ""
		}, "ledger-v2"},
		"its template is like the one of another engine": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Engine, o.Members[0].Started = "ledger-v1", true
			o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationEngine] = "ledger-v2"
			o.Members[0].Template = o.Template()
		}, "ledger-v2"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			cluster.Spec.Engine = "ledger-v3" // the spec does not matter
			observed := plans.Standing(t, cluster)
			observed.Engine, observed.Volumes = &dbv1.DatabaseEngine{}, plans.KeptVolumes()[:1]
			observed.Volumes[0].Cluster, observed.Volumes[0].Engine = plans.UID, "ledger-v1"
			delete(observed.StatefulSet.Spec.Template.Annotations, dbv1.AnnotationEngine)
			c.change(cluster, &observed)
			got := ""
			_, recorded := plans.Recorded(plans.Decide(cluster, observed))
			for _, c := range recorded {
				got += c.Engine
			}
			if got != c.want {
				t.Errorf("the claim is to say %q, want %q", got, c.want)
			}
		})
	}
}
