/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	appsv1 "k8s.io/api/apps/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// archiveSequences test the archive of a cluster, and clusters that start at a moment in one.
var archiveSequences = []world.Story{
	world.Tell("archive", told(createPair(world.TuneEngine, archived)), handOverTo("orders-1"), image("database:2"), hibernate(true), hibernate(false), withoutArchive()),
	world.Tell("archive-of-a-running-cluster", createPair(world.TuneEngine), set("an archive is asked for", archived), remove()),
	world.Tell("archive-with-a-backup", createPair(world.PairEngine, archived), backUp("first", dbv1.BackupRetain)),
	world.Tell("archive-with-a-schedule", told(createPair(world.PairEngine, archived, scheduled("0 3 * * *", 2)))),
	world.Tell("archive-image-missing", createPair(world.TuneEngine, archived), image("database:missing"), image("database:2")),
	world.Tell("archive-deleted", createPair(world.PairEngine, archived), vanished[*appsv1.Deployment]("the Deployment"), lose("orders-0")),
	world.Tell("archive-name-taken", otherArchive(), createPair(world.PairEngine, archived), withoutArchive()),
	world.Tell("archive-verified", checked(createPair(world.PairEngine, archived, recovering)), backUp("first", dbv1.BackupRetain), verify("first"), verify("first")),
	world.Tell("archive-recovery", backedUp("old", world.PairEngine), told(createPair(world.PairEngine, fromBackup("old"), recovered)), world.Holds("old of member 0")),
}

// archived gives a cluster an archive.
func archived(c *dbv1.DatabaseCluster) {
	engine := c.Spec.Engine
	saved(c)
	c.Spec.Engine, c.Spec.Backup.Archive = engine, &dbv1.ClusterArchive{}
}

func recovered(c *dbv1.DatabaseCluster) {
	c.Spec.Bootstrap.FromBackup.RecoveryTarget = &dbv1.RecoveryTarget{Time: "2026-01-01T00:00:30.5Z"}
}

// recovering makes verifications recover to the end of the archive and to a random moment.
func recovering(c *dbv1.DatabaseCluster) {
	c.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "0 5 * * 0", TimeZone: "UTC", Recover: dbv1.RecoverAlternate}
}

// checked gives the engine of a cluster that is created the actions of a verification. Any write may change its fact.
func checked(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		declareShared(w, world.PairEngine)
		e := store.Get[*dbv1.DatabaseEngine](w.Store, world.PairEngine)
		e.Spec.Actions.Check, e.Spec.Actions.Probe = aCheck(), &dbv1.EngineAction{Command: []string{"db", "probe"}}
		w.Store.Put(e)
		do(w)
	}
	return s
}

func withoutArchive() world.Step {
	return set("no archive is asked for", func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Archive = nil })
}

func otherArchive() world.Step {
	return world.Step{What: "somebody has a Deployment orders-archive", Do: func(w *world.World) {
		w.Store.Put(&appsv1.Deployment{ObjectMeta: w.Meta("orders-archive"), Spec: appsv1.DeploymentSpec{Replicas: new(int32)}})
	}}
}
