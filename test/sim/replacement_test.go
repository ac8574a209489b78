/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// replacementSequences test DatabaseRestores that give a cluster other data, and its volumes from before back.
var replacementSequences = []world.Story{
	world.Tell("data-replaced", backedUp("old", world.PairEngine), told(createPair(world.PairEngine)), replaceData("yesterday", "old"), world.Holds("old of member 0"),
		setMode("yesterday", dbv1.RestoreUndo), world.Holds("the first data"), setMode("yesterday", dbv1.RestoreReplace), world.Holds("old of member 0"),
		removeRestore("yesterday"), image("database:2")),
	world.Tell("data-replaced-with-a-schedule", backedUp("old", world.PairEngine), told(createPair(world.PairEngine, backedUpAtNight)), backUp("first", dbv1.BackupRetain),
		replaceData("yesterday", "old"), setMode("yesterday", dbv1.RestoreUndo), removeRestore("yesterday"), world.Holds("the first data")),
	world.Tell("data-replaced-without-a-backup", backedUp("old", world.PairEngine), told(createPair(world.PairEngine, backedUpAtNight, suspended(true))),
		backUp("first", dbv1.BackupRetain), replaceData("yesterday", "old"), removeRestore("yesterday"), backUp("second", dbv1.BackupRetain)),
	world.Tell("data-replaced-of-each-member", world.InBucket("old", 2), runningSaved(2), replaceData("yesterday", "old"), world.Holds("old of member"),
		setMode("yesterday", dbv1.RestoreUndo), world.Holds("what orders"), removeRestore("yesterday"), scale(3)),
	world.Tell("data-replaced-and-undone-at-once", backedUp("old", world.PairEngine), told(createPair(world.PairEngine)), soon(9, replaceData("yesterday", "old")),
		soon(2, setMode("yesterday", dbv1.RestoreUndo)), removeRestore("yesterday"), world.Holds("the first data")),
	world.Tell("data-replaced-and-deleted-at-once", backedUp("old", world.PairEngine), told(createPair(world.PairEngine)), soon(18, replaceData("yesterday", "old")),
		removeRestore("yesterday"), setMode("yesterday", dbv1.RestoreUndo), world.Holds("the first data")),
	world.Tell("data-replaced-in-a-crash-loop", world.InBucket("old", 2), runningSaved(2), image("database:crash"), replaceData("yesterday", "old"), image("database:1"),
		world.Holds("old of member"), remove(), removeRestore("yesterday")),
	world.Tell("data-replaced-and-adopted", world.InBucket("old", 2), runningSaved(2), replaceData("yesterday", "old"), remove(), create(2, saved), removeRestore("yesterday"),
		retains("data-orders"), together(deleteClaim("data-orders-0"), deleteClaim("data-orders-1")), world.Holds("old of member")),
	world.Tell("data-replaced-from-a-missing-backup", runningSaved(2), replaceData("yesterday", "missing"), removeRestore("yesterday")),
	world.Tell("data-replaced-after-a-failure", backedUp("old", world.PairEngine), told(createPair(world.PairEngine)),
		world.GoesWrong(world.Trouble{Verb: "restore", Code: 30, Times: 1}), replaceData("yesterday", "old"), image("database:2"), world.At(8*day), world.Holds("the first data"),
		removeRestore("yesterday"), replaceData("again", "old"), world.Holds("old of member 0")),
	world.Tell("data-replaced-after-a-failure-of-each-member", world.InBucket("old", 2), runningSaved(2),
		world.GoesWrong(world.Trouble{Verb: "restore", Code: 30, Times: -1}), soon(4, replaceData("yesterday", "old")), world.RestartOperator(), scale(3), world.At(8*day), world.Holds("what orders"), scale(2), removeRestore("yesterday")),
	world.Tell("data-replaced-undone-and-deleted", world.InBucket("old", 2), runningSaved(2), replaceData("yesterday", "old"), setMode("yesterday", dbv1.RestoreUndo), remove(),
		removeRestore("yesterday"), retains("data-0"), retains("data-orders")),
	world.Tell("data-replaced-not-reported-and-deleted", world.InBucket("old", 2), runningSaved(2), image("database:crash"), replaceData("yesterday", "old"), remove(),
		removeRestore("yesterday"), retains("data-0"), retains("data-orders")),
	world.Tell("data-replaced-and-both-deleted", world.InBucket("old", 2), runningSaved(2), replaceData("yesterday", "old"), together(remove(), removeRestore("yesterday")),
		retains("data-0"), retains("data-orders")),
	world.Tell("data-replaced-and-deleted-with-the-cluster", world.InBucket("old", 2), runningSaved(2, deleteVolumes), replaceData("yesterday", "old"), together(remove(), removeRestore("yesterday"))),
	world.Tell("data-replaced-again-and-deleted", world.InBucket("old", 2), runningSaved(2), replaceData("yesterday", "old"), setMode("yesterday", dbv1.RestoreUndo),
		soon(3, setMode("yesterday", dbv1.RestoreReplace)), removeRestore("yesterday"), world.Holds("what orders"), retains("data-0"), setMode("yesterday", dbv1.RestoreUndo), world.Holds("what orders")),
	world.Tell("data-replaced-but-not-the-archive", backedUp("old", world.PairEngine), told(createPair(world.PairEngine, archived)), world.NodeSilent("archive"),
		replaceData("yesterday", "old"), setMode("yesterday", dbv1.RestoreUndo), world.Holds("the first data"), world.RemoveNode("archive")),
	world.Tell("data-replaced-by-two", world.InBucket("old", 2), runningSaved(2), replaceData("first", "old"), replaceData("second", "old"), removeRestore("first"), removeRestore("second")),
}

// backedUpAtNight gives a cluster a schedule that is not due during a story.
func backedUpAtNight(c *dbv1.DatabaseCluster) {
	engine := c.Spec.Engine
	saved(c)
	scheduled("0 3 * * *", 7)(c)
	c.Spec.Engine = engine
}

// replaceData creates a DatabaseRestore that gives the cluster the data of a backup.
func replaceData(name, backup string) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseRestore %s asks to replace the data by that of %s", name, backup), Do: func(w *world.World) {
		r := &dbv1.DatabaseRestore{ObjectMeta: w.Meta(name)}
		r.Spec.ClusterRef.Name, r.Spec.Mode = w.Name, dbv1.RestoreReplace
		r.Spec.Source.BackupRef = &dbv1.RestoreBackupRef{Name: backup}
		w.Store.Put(r)
	}}
}

func setMode(name string, mode dbv1.RestoreMode) world.Step {
	return world.Step{What: fmt.Sprintf("the mode of DatabaseRestore %s is set to %s", name, mode), Do: func(w *world.World) {
		r := store.Get[*dbv1.DatabaseRestore](w.Store, name)
		if r == nil {
			w.Breaks("DatabaseRestore %s does not wait for the user", name)
			return
		}
		r.Spec.Mode = mode
		w.Store.Put(r)
	}}
}

func removeRestore(name string) world.Step {
	return world.Step{What: "DatabaseRestore " + name + " is deleted", Do: func(w *world.World) {
		w.Delete(store.Get[*dbv1.DatabaseRestore](w.Store, name))
	}}
}

// retains demands claims whose names begin so.
func retains(prefix string) world.Step {
	return world.Step{What: "claims " + prefix + "... exist", Do: func(w *world.World) {
		if !slices.ContainsFunc(store.All[*corev1.PersistentVolumeClaim](w.Store), func(c *corev1.PersistentVolumeClaim) bool { return strings.HasPrefix(c.Name, prefix) }) {
			w.Breaks("no claim %s... exists", prefix)
		}
	}}
}

// replacementMutants are mistakes that would delete volumes that a user may still want.
var replacementMutants = map[string]mutant{
	"the deletion of a restore counts as an undo": {
		reads(func(object client.Object) {
			if r, is := object.(*dbv1.DatabaseRestore); is && r.DeletionTimestamp != nil {
				r.Spec.Mode = dbv1.RestoreUndo
			}
		}),
		"data-replaced-again-and-deleted", "-orders-0 is deleted",
	},
	"the volumes from before do not outlive a deleted cluster": {
		reads(func(object client.Object) {
			if c, is := object.(*dbv1.DatabaseCluster); is && c.DeletionTimestamp != nil {
				c.Spec.Deletion.Volumes = dbv1.VolumesDelete
			}
		}),
		"data-replaced-and-both-deleted", "claim data-orders-0 is deleted",
	},
}

func init() { maps.Copy(dataMutants, replacementMutants) }

// reads is an operator that reads other objects than the API server has.
func reads(instead func(client.Object)) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		instead(object)
		return err
	}}
}
