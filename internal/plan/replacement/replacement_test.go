/*
SPDX-License-Identifier: Apache-2.0
*/

package replacement_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/replacement"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

var source = dbv1.BackupSource{Location: &dbv1.BackupDestination{URL: "s3://bucket/first", CredentialsSecretName: "keys"}}

// filled is a converged cluster of three members, for which a DatabaseRestore fills other volumes.
func filled(t *testing.T, fill state.Fill, created time.Duration) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	c := plans.Orders()
	c.Spec.Engine = "ledger"
	o := plans.Standing(t, c)
	o.Image, o.Engine = "operator:1", &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger"}, Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyIndependent}}
	o.Engine.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"restore"}}
	template := naming.RestoredTemplate("r1")
	o.Replacement = &state.Replacement{Restore: dbv1.ReplacementRestoreRef{Name: "yesterday", UID: "r1"}, Template: template, Asked: true, Source: &source}
	id := situation.RestoreID(o.Replacement.Cluster(c), *source.Location, 3)
	for ordinal := range int32(3) {
		o.Replacement.Volumes = append(o.Replacement.Volumes, state.Volume{
			Claim: naming.ClaimIn(template, "orders", ordinal), UID: types.UID(fmt.Sprint("other", ordinal)), Ordinal: ordinal, Managed: true, Capacity: resource.MustParse("1Gi"),
			Created: plans.Ago(created), Contents: state.Contents{Cluster: plans.UID, Engine: "ledger", Fill: fill, From: id},
		})
	}
	return c, o
}

// with adds a Job that fills the volume of a member.
func with(o *state.Observed, ordinal int32, job jobs.Job) {
	v := o.Replacement.Volumes[ordinal]
	job.Name, job.UID = naming.RestoreJob("orders", v.From, v.UID, ordinal), types.UID(fmt.Sprint("job", ordinal))
	o.Replacement.Filling.Jobs = append(o.Replacement.Filling.Jobs, job)
}

// decided is what a pass does for the other volumes, and reports about them.
func decided(c *dbv1.DatabaseCluster, o state.Observed) (created, deleted []string, now *dbv1.ClusterReplacementStatus) {
	d := replacement.Upkeep.Decide(situation.Of(c, o))
	for _, do := range d.Operations {
		switch do := do.(type) {
		case operation.Create:
			for _, child := range do.Objects {
				created = append(created, child.Name())
			}
		case operation.Delete:
			for _, target := range do.Objects {
				deleted = append(deleted, target.Name)
			}
		}
	}
	status := c.Status.DeepCopy()
	d.Report(subject.Executed{}, status)
	return created, deleted, status.Replacement
}

func failed() jobs.Job {
	return jobs.Job{Failed: true, Failure: "backoff", MadeFrom: "an older version"}
}

func running() jobs.Job { return jobs.Job{Active: true, Started: true} }

// The members have continued, so the same data would replace what clients have written since.
func TestAFailedReplacementIsNeverRepeated(t *testing.T) {
	const hour, week = time.Hour, 7 * 24 * time.Hour
	each := func(job func() jobs.Job) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			for ordinal := range int32(3) {
				with(o, ordinal, job())
			}
		}
	}
	cases := map[string]struct {
		created time.Duration
		change  func(*dbv1.DatabaseCluster, *state.Observed)
		creates int
		deletes int
		failure string // a part; "" for none
	}{
		"it starts":              {hour, func(*dbv1.DatabaseCluster, *state.Observed) {}, 3, 0, ""},
		"it runs":                {hour, each(running), 0, 0, ""},
		"it is attempted again":  {hour, each(func() jobs.Job { return jobs.Job{Started: true, Code: 1, MadeFrom: "an older version"} }), 0, 3, ""},
		"it has failed":          {hour, each(failed), 0, 0, "-orders-0 failed: backoff"},
		"one Job of it has":      {hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) { with(o, 1, failed()); with(o, 2, running()) }, 0, 1, "orders-1 failed: backoff"},
		"a failed Job is ending": {hour, each(func() jobs.Job { job := failed(); job.Ending = true; return job }), 0, 0, "failed: backoff"},
		"another number of members needs another restore": {hour, func(c *dbv1.DatabaseCluster, o *state.Observed) {
			each(failed)(c, o)
			c.Spec.Replicas = 2
		}, 0, 0, "failed: backoff"},
		"a mode is set in between": {hour, func(c *dbv1.DatabaseCluster, o *state.Observed) {
			each(failed)(c, o)
			o.Replacement.Asked = false
		}, 0, 0, "failed: backoff"},
		"its Job no longer exists": {hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Replacement.Failure = "the key is wrong" }, 0, 0, "the key is wrong"},
		"its claims no longer exist": {hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Replacement.Failure, o.Replacement.Volumes = "the key is wrong", nil
		}, 0, 0, "the key is wrong"},
		"the operator was away, and its Job no longer exists": {week, func(*dbv1.DatabaseCluster, *state.Observed) {}, 0, 0, "Kubernetes may have deleted a Job that failed"},
		"it runs for long":                 {week, each(running), 0, 0, ""},
		"it is attempted again after days": {week, each(func() jobs.Job { return jobs.Job{Started: true, Code: 1, MadeFrom: "an older version"} }), 0, 0, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c, o := filled(t, state.Filling, test.created)
			test.change(c, &o)
			created, deleted, now := decided(c, o)
			if len(created) != test.creates || len(deleted) != test.deletes {
				t.Errorf("it creates %v, and deletes %v", created, deleted)
			}
			if !strings.Contains(now.Failure, test.failure) || (now.Failure != "") != (test.failure != "") {
				t.Errorf("failure %q", now.Failure)
			}
			stalled := test.failure != "" && o.Replacement.Asked
			if want := "create another DatabaseRestore, and delete DatabaseRestore yesterday"; strings.Contains(now.Message, want) != stalled || (now.Reason == dbv1.ReasonRestoreFailed) != stalled {
				t.Errorf("%s: %s", now.Reason, now.Message)
			}
		})
	}
}

func TestNoMemberStopsForVolumesWhoseRestoreHasFailed(t *testing.T) {
	c, o := filled(t, state.Filled, time.Hour)
	if s := situation.Of(c, o); !s.Switches() {
		t.Fatal("complete volumes are not used")
	}
	o.Replacement.Failure = "the key is wrong"
	if s := situation.Of(c, o); s.Switches() || s.Wanted == 0 {
		t.Error("the members stop")
	}
}

func TestASwitchNamesThePodOfTheArchiveAndTheWayBack(t *testing.T) {
	for name, test := range map[string]struct {
		source *dbv1.BackupSource
		ended  bool
		want   string
	}{
		"to restored data":        {&source, false, "after pod archive-1, which archives the log of the present ones, has terminated. If its node is lost, recover the node, or delete the Node object. To keep the present volumes, set spec.mode of DatabaseRestore yesterday to Undo"},
		"to volumes from before":  {nil, false, "set spec.mode of DatabaseRestore yesterday to Replace"},
		"after the pod has ended": {&source, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, o := filled(t, state.Filled, time.Hour)
			o.StatefulSet, o.Members, o.Replacement.Source = nil, nil, test.source
			o.Bystanders = []state.Bystander{{Name: "archive-1", Component: dbv1.ComponentArchive, Ended: test.ended}}
			_, _, now := decided(c, o)
			if !strings.Contains(now.Message, test.want) || test.want == "" && now.Message != "" {
				t.Errorf("stage %s: %s", now.Stage, now.Message)
			}
			if now.Stage == dbv1.ReplacementSwitching == test.ended {
				t.Errorf("stage %s", now.Stage)
			}
		})
	}
}
