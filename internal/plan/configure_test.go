/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
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
			job := naming.ConfigureJob(cluster.Name, resources.Configuration(engine.Resolve(cluster, o.Engine), o.References))
			task := plans.Task(job, false)
			task.Component, task.Code, task.Failure = dbv1.ComponentConfigure, c.code, "the Job has failed"
			o.Tasks = []state.Task{task}
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
