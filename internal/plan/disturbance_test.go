/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

type change = func(*dbv1.DatabaseCluster, *state.Observed)

// all applies changes in their order.
func all(changes ...change) change {
	return func(c *dbv1.DatabaseCluster, o *state.Observed) {
		for _, change := range changes {
			change(c, o)
		}
	}
}

func replicas(number int32) change {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = number }
}

func hibernated(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Hibernated = true }

func terminating(c *dbv1.DatabaseCluster, _ *state.Observed) {
	c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
}

func roles(roles ...string) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Roles(o, roles...) }
}

// unready are members that are not ready for that long.
func unready(since time.Duration, ordinals ...int) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		for _, i := range ordinals {
			o.Members[i].Ready, o.Members[i].ReadySince = false, plans.Ago(since)
		}
		o.AgreementsRead, o.Agreements = true, plans.Agreed()
	}
}

func stuck(c *dbv1.DatabaseCluster, o *state.Observed) {
	for i := range o.Members {
		o.Members[i].Stuck = true
	}
}

// missing are pods that do not exist.
func missing(ordinals ...int32) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		for _, ordinal := range ordinals {
			o.Members = state.Only(o.Members, func(m state.Member) bool { return m.Ordinal != ordinal })
		}
	}
}

func task(t jobs.Job) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Jobs = append(o.Jobs, t) }
}

// tuned is an engine with the action configure. The configuration for three members is in force.
func tuned(c *dbv1.DatabaseCluster, o *state.Observed) {
	o.Engine.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	c.Status.Configuration = &dbv1.ClusterConfigurationStatus{State: dbv1.ConfigurationInForce, Hash: configuration(c, o)}
}

// applies is the record before the action configure.
func applies(c *dbv1.DatabaseCluster, o *state.Observed) {
	c.Status.Configuration = &dbv1.ClusterConfigurationStatus{State: dbv1.ConfigurationApplying, Hash: configuration(c, o)}
}

func configuration(c *dbv1.DatabaseCluster, o *state.Observed) string {
	return resources.Configuration(engine.Resolve(c, o.Engine), o.References, "")
}

// configurationFor is the configuration for a number of members.
func configurationFor(t *testing.T, number int32) string {
	t.Helper()
	c, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
	c.Spec.Replicas = number
	tuned(c, &o)
	return configuration(c, &o)
}

func TestAPrimaryHandsOverBeforeItRestartsForOtherResources(t *testing.T) {
	refused := func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		plans.Outdated(o, 0)
		o.Members[0].Template, o.Members[0].Resources, o.Members[0].Refused = o.Template(), "others", "new"
	}
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"first the hand-over": {
			refused, "create Job " + naming.HandOverJob("orders", "pod-0") + "\nHandingOver: 1 member is outdated; pod orders-0 hands over to another member\n",
		},
		"then the restart": {
			all(refused, roles("replica", "primary", "replica"), task(plans.Task(naming.HandOverJob("orders", "pod-0"), true))),
			"restart orders-0\nRollingOut: 1 member is outdated; restarting pod orders-0\n",
		},
	})
}

func TestAScaleInWaitsForAPrimaryThatStays(t *testing.T) {
	const noPrimary = "Scaling: scaling in from 3 to 2 members waits until a member is the primary\n"
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"no replica is removed while there is no primary: it may be the only one that can take over": {
			all(replicas(2), unready(time.Second, 0)), noPrimary,
		},
		"however long that takes": {
			all(replicas(2), roles("replica", "replica", "replica"), unready(time.Hour)), noPrimary,
		},
		"a primary that is down is not removed, because it may be the only one": {
			all(replicas(2), roles("replica", "replica", "primary"), unready(time.Second, 2)), noPrimary,
		},
		"a member with the label of a primary is removed after another one has taken over": {
			all(replicas(2), roles("replica", "primary", "primary"), unready(time.Second, 2)),
			"scale in to 2\nScaling: scaling in from 3 to 2 members, one at a time\n",
		},
		"a primary stays while the other pods are missing": {
			all(replicas(2), roles("replica", "replica", "primary"), missing(0, 1)),
			"WaitingForMembers: 1 of 2 members are ready; pod orders-0 does not exist; if this persists, see the events of the StatefulSet\n",
		},
		"and while none of them serves": {
			all(replicas(1), roles("replica", "replica", "primary"), unready(time.Hour, 0, 1)),
			"Scaling: scaling in from 3 to 1 members waits until another member can take over from pod orders-2\n",
		},
		"meanwhile, a rollout may bring a primary": {
			all(replicas(2), func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0) }, unready(time.Hour, 0)),
			"restart orders-0\nRollingOut: 1 member is outdated; restarting pod orders-0\n",
		},
	})
}

func TestAHibernationWaitsForAPrimaryForALimitedTime(t *testing.T) {
	const waits = "Hibernating: waiting for a primary. Without one, the members stop 60 s after the last of them went down\n"
	const stops = "scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\n"
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"a replica may be the only one that can take over": {all(hibernated, unready(20*time.Second, 0)), waits + "again in 40s\n"},
		"a primary that is down may come back":             {all(hibernated, roles("replica", "replica", "primary"), unready(time.Second, 2)), waits + "again in 59s\n"},
		"the wait ends":                                    {all(hibernated, unready(time.Minute, 0)), stops},
		"also with a replica that went down later":         {all(hibernated, unready(time.Minute, 0), unready(50*time.Second, 1)), waits + "again in 10s\n"},
		"members that cannot start are not waited for":     {all(hibernated, unready(time.Second, 0, 1, 2), stuck), stops},
		"a terminating primary may still run": {
			all(hibernated, roles("primary", "replica", "replica"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[0].Terminating, o.Members[0].StopBy = true, metav1.NewTime(plans.Now.Add(5*time.Second))
				o.AgreementsRead, o.Agreements = true, plans.Agreed()
			}), waits + "again in 1m5s\n",
		},
		"the last member stops at once": {
			all(hibernated, func(_ *dbv1.DatabaseCluster, o *state.Observed) { alone(o, true, "primary") }, unready(time.Second, 0)),
			"scale in to 0\nHibernating: scaling in from 1 to 0 members, one at a time\n",
		},
		"a primary stops after the others, ready or not": {
			all(hibernated, roles("replica", "replica", "primary"), unready(time.Second, 0, 1)),
			"scale in to 2 from 1\nHibernating: scaling in from 3 to 0 members, one at a time\n",
		},
		"a deletion does not wait": {
			all(terminating, unready(time.Second, 0)), "scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
	})
}

func TestOneActionAtATimeDisturbsMembers(t *testing.T) {
	const job = "orders-configure-1"
	runs := jobs.Job{Name: job, UID: "job", Component: dbv1.ComponentConfigure, Active: true, Started: true, StartTime: new(plans.Ago(time.Minute))}
	but := func(change func(*jobs.Job)) change {
		t := runs
		change(&t)
		return task(t)
	}
	const waits = "Hibernating: waiting until Job " + job + " has ended; next: scaling in from 3 to 0 members, one at a time\nagain in 5s\n"
	const stops = "scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\n"
	const makesWay = "delete Job " + job + ": another action precedes it\n" + waits
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"a stop waits for a Job":                        {all(hibernated, task(runs)), waits},
		"of any kind":                                   {all(hibernated, but(func(t *jobs.Job) { t.Component = dbv1.ComponentHandOver })), waits},
		"also for one that is being deleted":            {all(hibernated, but(func(t *jobs.Job) { t.Ending = true })), waits},
		"not for one that has ended":                    {all(hibernated, but(func(t *jobs.Job) { t.Succeeded = true })), stops},
		"nor for one that a lost node keeps":            {all(hibernated, but(func(t *jobs.Job) { t.Failing, t.StartTime = true, new(plans.Ago(65*time.Minute)) })), stops},
		"whose deletion does not end, either":           {all(hibernated, but(func(t *jobs.Job) { t.Ending, t.StartTime = true, new(plans.Ago(65*time.Minute)) })), stops},
		"but for one that exceeds its deadline":         {all(hibernated, but(func(t *jobs.Job) { t.Failing, t.StartTime = true, new(plans.Ago(64*time.Minute)) })), waits},
		"one that has not started makes way":            {all(hibernated, but(func(t *jobs.Job) { t.Started = false })), makesWay},
		"one that waits for its next attempt, too":      {all(hibernated, but(func(t *jobs.Job) { t.Active, t.Code = false, 11 })), makesWay},
		"one whose attempt has just succeeded does not": {all(hibernated, but(func(t *jobs.Job) { t.Active = false })), waits},
		"nor one that is about to fail":                 {all(hibernated, but(func(t *jobs.Job) { t.Active, t.Code, t.Final = false, 30, true })), waits},
		"a restart waits": {
			all(func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 2) }, task(runs)),
			"RollingOut: waiting until Job " + job + " has ended; next: 1 member is outdated; restarting pod orders-2\nagain in 5s\n",
		},
		"other resources wait": {
			all(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				o.Members[2].Template, o.Members[2].Resources = o.Template(), "others"
			}, task(runs)),
			"RollingOut: waiting until Job " + job + " has ended; next: 1 member is outdated; resizing pod orders-2\nagain in 5s\n",
		},
		"a rebuild waits": {
			all(func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Annotations = map[string]string{dbv1.AnnotationRebuild: "orders-2"}
			}, has(dbv1.RequestRebuild, "orders-2", dbv1.RequestAccepted, "claim-2"), task(runs)),
			"Rebuilding: waiting until Job " + job + " has ended; next: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\nagain in 5s\n",
		},
		"a hand-over waits": {
			all(func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0) }, task(runs)),
			"HandingOver: waiting until Job " + job + " has ended; next: 1 member is outdated; pod orders-0 hands over to another member\nagain in 5s\n",
		},
		"a member that has handed over stops after the Job has ended": {
			all(hibernated, roles("primary", "replica", "replica"), task(jobs.Job{
				Name: naming.HandOverJob("orders", "pod-2"), Component: dbv1.ComponentHandOver, Active: true, Started: true,
			})),
			"Hibernating: waiting until Job " + naming.HandOverJob("orders", "pod-2") + " has ended; next: scaling in from 3 to 0 members, one at a time\nagain in 5s\n",
		},
		"a configuration waits for a hand-over": {
			all(tuned, func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Parameters = map[string]string{"prefix": "a"} }, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Engine.Spec.OtherParameters = true
			}, applies, but(func(t *jobs.Job) { t.Name, t.Component = "orders-handover-1", dbv1.ComponentHandOver })),
			"Configuring: waiting until Job orders-handover-1 has ended; next: the members get the parameters and passwords of the spec\nagain in 5s\n",
		},
		"a deletion does not wait": {
			all(terminating, roles("primary", "replica", "replica"), task(runs)), "scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
	})
}

func TestTheEngineAcceptsTheNumberOfMembersBeforeAScaleIn(t *testing.T) {
	hash := configurationFor(t, 1)
	job := naming.ConfigureJob("orders", hash)
	refused := plans.Task(job, false)
	refused.Code, refused.Failure, refused.Component = 30, "strict needs two members", dbv1.ComponentConfigure
	const waits = "Scaling: scaling in from 3 to 1 members waits until the database accepts the parameters for spec.replicas 1\n"
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"the previous configuration is no longer known to be in force": {
			all(tuned, replicas(1)), "record the configuration " + hash + ": Applying\nConfiguring: the members get the parameters and passwords of the spec\n",
		},
		"then the configuration comes first": {
			all(tuned, replicas(1), applies), "create Job " + job + "\nConfiguring: the members get the parameters and passwords of the spec\n",
		},
		"then it is recorded": {
			all(tuned, replicas(1), applies, task(plans.Task(job, true))),
			"record the configuration " + hash + ": InForce\nConfiguring: the parameters and passwords are in force\n",
		},
		"a result from before another configuration does not count": {
			all(tuned, replicas(1), applies, task(ended("orders-configure-earlier", dbv1.ComponentConfigure))),
			"delete Job orders-configure-earlier: another one of its kind follows\ncreate Job " + job + "\nConfiguring: the members get the parameters and passwords of the spec\n",
		},
		"then the members leave": {
			all(replicas(1), tuned), "scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\n",
		},
		"a refusal removes no member": {
			all(tuned, replicas(1), task(refused)), waits + "STALLED ConfigureFailed\n",
		},
		"without a primary nothing can be refused": {
			all(tuned, replicas(1), roles("replica", "replica", "replica"), unready(time.Hour)),
			"Scaling: scaling in from 3 to 1 members waits until a member is the primary\n",
		},
		"a hibernation needs no configuration": {
			all(tuned, replicas(1), hibernated), "scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\n",
		},
		"a Job on a node that does not respond is no acceptance": {
			all(tuned, replicas(1), task(jobs.Job{
				Name: job, Pod: "p", Component: dbv1.ComponentConfigure, Active: true, Started: true, Failing: true, StartTime: new(plans.Ago(65 * time.Minute)),
			})),
			waits + "STALLED ConfigureFailed\n",
		},
	})
}

func TestAHandOverOnALostNodeNeedsTheUserButBlocksNoDeletion(t *testing.T) {
	lost := func(change func(*jobs.Job)) change {
		t := jobs.Job{
			Name: naming.HandOverJob("orders", "pod-2"), Pod: "p", Component: dbv1.ComponentHandOver, Active: true, Started: true,
			Failing: true, StartTime: new(plans.Ago(15 * time.Minute)),
		}
		change(&t)
		return task(t)
	}
	as := func(*jobs.Job) {}
	last := roles("replica", "replica", "primary")
	const stopping = "scale in to 2 from 1\nTerminating: scaling in from 3 to 0 members, one at a time\n"
	const hands = "HandingOver: pod orders-2 hands over to another member"
	job := naming.HandOverJob("orders", "pod-2")
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"a scale-in": {
			all(replicas(2), last, lost(as)),
			hands + ": Job " + job + " did not finish within its deadline, because pod p does not respond. " +
				"Recover the node of the pod, or make sure that the pod does not run and delete the Job\nagain in 5s\nSTALLED JobBlocked\n",
		},
		"a deletion": {all(terminating, last, lost(as)), stopping},
		"a deletion of a Job that does not end, either": {
			all(terminating, last, lost(func(t *jobs.Job) { t.Failing, t.Ending = false, true })), stopping,
		},
		"a deletion waits until that is certain": {
			all(terminating, last, lost(func(t *jobs.Job) { t.StartTime = new(plans.Ago(14 * time.Minute)) })),
			"Terminating: waiting until Job " + job + " has ended; next: scaling in from 3 to 0 members, one at a time\nagain in 5s\n",
		},
		"also before a backup of stopped members": {
			all(terminating, last, unready(time.Minute, 0, 1, 2), lost(as), func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.HookDeadlineSeconds = 3600
				c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "last", Type: dbv1.HookBackup}}
				o.HookBackups = map[string]state.HookBackup{"last": {Name: "b", Phase: dbv1.BackupPending, Created: plans.Ago(time.Minute)}}
				o.Jobs[0].StartTime = new(plans.Ago(14 * time.Minute))
			}),
			"HookRunning: deletion hook \"last\" waits for DatabaseBackup b; none of the remaining members is ready, so the operator stops all members and backs up their volumes: " +
				"waiting until Job " + job + " has ended; next: scaling in from 3 to 0 members, one at a time\nagain in 5s\n",
		},
	})
}
