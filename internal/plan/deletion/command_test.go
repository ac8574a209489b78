/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestAHookThatHasNotStartedIsReCreatedWhenTheClusterIsCorrected(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	resolved := engine.Resolve(cluster, observed.Engine)
	made := resources.HookJob(resolved, cluster.Spec.Deletion.Hooks[0]).Object.GetAnnotations()[dbv1.AnnotationApplied]
	observed.Hooks["run"] = jobs.Job{Name: "j", UID: "job", Pod: "p", Problem: "no such image", Remedy: "Correct spec.image", MadeFrom: made}
	if p := plans.Decide(cluster, observed); len(plans.Removals(p)) > 0 || p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonHookWaiting {
		t.Fatal(plans.Text(p))
	}
	cluster.Spec.Image = "example.test/ledger:2"
	if p := plans.Decide(cluster, observed); len(plans.Removals(p)) != 1 || plans.Removals(p)[0].UID != "job" || p.Stalled != nil || !strings.Contains(p.Message, "starts again") {
		t.Error(plans.Text(p))
	}
	observed.Hooks["run"] = jobs.Job{Name: "j", UID: "job", Started: true, MadeFrom: made}
	if p := plans.Decide(cluster, observed); len(plans.Removals(p)) > 0 {
		t.Errorf("it has started: %s", plans.Text(p))
	}
}
