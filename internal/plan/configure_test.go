/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestOnlyTheDatabaseCanRefuseAConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		code   protocol.ExitCode
		stalls bool
	}{
		"it refuses the parameters":                {protocol.ExitRefused, true},
		"the action fails again and again":         {protocol.ExitFailed, true},
		"no member answered until the deadline":    {protocol.ExitTransient, false},
		"the engine is paused":                     {protocol.ExitPrecondition, false},
		"the end of the last attempt is not known": {protocol.ExitDone, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
			o.Engine.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
			applies(cluster, &o)
			job := naming.ConfigureJob(cluster.Name, resources.Configuration(engine.Resolve(cluster, o.Engine), o.References, ""))
			task := plans.Task(job, false)
			task.Component, task.Code, task.Failure = dbv1.ComponentConfigure, c.code, "the Job has failed"
			o.Jobs = []jobs.Job{task}
			p := plans.Decide(cluster, o)
			if stalls := p.Stalled != nil && p.Stalled.Reason == dbv1.ReasonConfigureFailed; stalls != c.stalls {
				t.Errorf("\n%s", plans.Text(p))
			}
			if repeats := p.RequeueAfter > 0; repeats == c.stalls {
				t.Errorf("the next pass is in %v:\n%s", p.RequeueAfter, plans.Text(p))
			}
		})
	}
}

// With synchronous replication that no replica can serve, only another value of the parameter lets clients write again.
func TestADatabaseThatRefusesWritesIsConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		probe     string
		configure bool
	}{
		"it refuses writes":     {"Readiness probe failed: no writes: commits wait for a replica", true},
		"it only does not lead": {"Readiness probe failed: the server does not answer", false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
			o.Engine.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
			for i := range o.Members {
				o.Members[i].Ready = false
			}
			o.Members[0] = o.Members[0].Hear(c.probe)
			p := plans.Decide(cluster, o)
			if configure := p.Reason == dbv1.ReasonConfiguring; configure != c.configure {
				t.Errorf("\n%s", plans.Text(p))
			}
		})
	}
}
