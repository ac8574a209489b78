/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// blockedRestore returns a cluster of two members whose restore Jobs are current and whose pods cannot start.
func blockedRestore(t *testing.T) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	observed.Engine.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"backup"}}
	for ordinal := range int32(2) {
		job := runs()
		job.Pod, job.Problem, job.Remedy = "x-1", "container action: image pull failed: no", "Correct spec.image"
		v := filling(cluster, &observed, ordinal, job)
		made := resources.RestoreJob(engine.Resolve(cluster, observed.Engine), resources.Restore{
			ID: v.From, From: *cluster.Spec.Bootstrap.FromBackup.Location, Command: observed.Engine.Spec.Actions.Restore.Command, Image: observed.Image, Members: cluster.Spec.Replicas,
		}, v)
		observed.Restore.Jobs[ordinal].MadeFrom = made.Object.GetAnnotations()[dbv1.AnnotationApplied]
	}
	return cluster, observed
}

func TestARestoreJobThatHasNotStartedIsReCreatedWhenItsConfigurationChanges(t *testing.T) {
	for name, correct := range map[string]func(*dbv1.DatabaseCluster){
		"the image": func(c *dbv1.DatabaseCluster) { c.Spec.Image = "example.test/ledger:2" },
		"the pull secrets": func(c *dbv1.DatabaseCluster) {
			c.Spec.Pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
		},
		"the scheduling": func(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.NodeSelector = map[string]string{"disk": "fast"} },
		"the resources": func(c *dbv1.DatabaseCluster) {
			c.Spec.Backup = &dbv1.ClusterBackup{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := blockedRestore(t)
			if before := plans.Decide(cluster, observed); before.Stalled == nil || before.Stalled.Reason != dbv1.ReasonJobBlocked || len(plans.Removals(before)) > 0 {
				t.Fatalf("before the correction: %s", plans.Text(before))
			}
			correct(cluster)
			p := plans.Decide(cluster, observed)
			if len(plans.Removals(p)) != 2 || plans.Removals(p)[0].Kind.Kind != "Job" || plans.Removals(p)[1].UID != "job1" || plans.Disrupts(p) || p.Stalled != nil {
				t.Fatal(plans.Text(p))
			}
			if p.Reason != dbv1.ReasonRestoring {
				t.Error(p.Reason)
			}
			observed.Restore.Jobs[0].Ending, observed.Restore.Jobs[1].Ending = true, true
			if wait := plans.Decide(cluster, observed); len(plans.Removals(wait)) > 0 || plans.Disrupts(wait) {
				t.Fatal(plans.Text(wait))
			}
			observed.Restore.Jobs = nil
			if begin, ok := plans.Find[operation.Create](plans.Decide(cluster, observed), "restore "); !ok || len(begin.Objects) != 2 {
				t.Error("the Jobs are not created again")
			}
		})
	}
}

func TestARestoreJobThatMayHaveStartedIsNeverReCreated(t *testing.T) {
	for name, change := range map[string]func(*jobs.Job){
		"it has started":               func(j *jobs.Job) { j.Started = true },
		"it is being deleted":          func(j *jobs.Job) { j.Ending = true },
		"it has succeeded":             func(j *jobs.Job) { j.Succeeded = true },
		"it is about to fail":          func(j *jobs.Job) { j.Failing = true },
		"an older operator created it": func(j *jobs.Job) { j.MadeFrom = "" },
		"its configuration is current": func(j *jobs.Job) { j.MadeFrom = "same" },
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := blockedRestore(t)
			if name != "its configuration is current" {
				cluster.Spec.Image = "example.test/ledger:2"
			}
			for i := range observed.Restore.Jobs {
				made := observed.Restore.Jobs[i].MadeFrom
				if change(&observed.Restore.Jobs[i]); observed.Restore.Jobs[i].MadeFrom == "same" {
					observed.Restore.Jobs[i].MadeFrom = made
				}
			}
			if p := plans.Decide(cluster, observed); len(plans.Removals(p)) > 0 {
				t.Error(plans.Text(p))
			}
		})
	}
}

func TestARestoreJobBetweenTwoAttemptsIsReCreatedWhenItsConfigurationChanges(t *testing.T) {
	cluster, observed := blockedRestore(t)
	for i := range observed.Restore.Jobs {
		job := &observed.Restore.Jobs[i]
		job.Started, job.Active, job.Code, job.Remedy = true, false, protocol.ExitTransient, ""
	}
	if before := plans.Decide(cluster, observed); before.Reason != dbv1.ReasonRestoreRetrying || len(plans.Removals(before)) > 0 {
		t.Fatalf("before the correction: %s", plans.Text(before))
	}
	cluster.Spec.Image = "example.test/ledger:2"
	observed.Restore.Jobs[1].Active = true // its next attempt runs
	p := plans.Decide(cluster, observed)
	if all := plans.Removals(p); len(all) != 1 || all[0].Kind.Kind != "Job" || all[0].UID != "job0" || p.Reason != dbv1.ReasonRestoring || p.Stalled != nil {
		t.Error(plans.Text(p))
	}
}

func TestARestoreIsFailedWhenItsJobHasFailedAndRunningWhileItIsBlocked(t *testing.T) {
	cluster, observed := blockedRestore(t)
	if p := plans.Decide(cluster, observed); p.Restore.Phase != dbv1.RestoreRunning || !strings.Contains(p.Restore.Message, "cannot start") {
		t.Errorf("blocked: %+v", p.Restore)
	}
	observed.Restore.Jobs[0].Started, observed.Restore.Jobs[0].Failed, observed.Restore.Jobs[0].Active = true, true, false
	if p := plans.Decide(cluster, observed); p.Restore.Phase != dbv1.RestoreFailed || !strings.Contains(p.Restore.Message, "failed: ") {
		t.Errorf("failed: %+v", p.Restore)
	}
}

func TestAFailedRestoreRestartsWhenTheSpecIsCorrected(t *testing.T) {
	cluster, observed := blockedRestore(t)
	observed.Restore.Jobs[0].Started, observed.Restore.Jobs[0].Failed, observed.Restore.Jobs[0].Active = true, true, false
	if p := plans.Decide(cluster, observed); p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonRestoreFailed || len(plans.Removals(p)) > 0 {
		t.Fatal(plans.Text(p))
	}
	cluster.Spec.Image = "example.test/ledger:2"
	if p := plans.Decide(cluster, observed); len(plans.Removals(p)) != 2 || p.Stalled != nil {
		t.Error(plans.Text(p))
	}
}
