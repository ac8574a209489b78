/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/archiver"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// logged is an engine with an archive.
func logged() *dbv1.DatabaseEngine {
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "logged-v1"}}
	e.Spec.Actions.Archive = &dbv1.EngineAction{Command: []string{"db", "archive"}}
	e.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"db", "backup"}}
	return e
}

func archived() *dbv1.DatabaseCluster {
	c := plans.Orders()
	c.Spec.Engine = "logged-v1"
	c.Spec.Backup = &dbv1.ClusterBackup{
		Destination: dbv1.BackupDestination{URL: "s3://backups/prod/", CredentialsSecretName: "bucket"}, Archive: &dbv1.ClusterArchive{},
	}
	return c
}

// seen is the situation of a cluster with these facts about its archive.
func seen(t *testing.T, c *dbv1.DatabaseCluster, facts archiver.Facts, changes ...func(*state.Observed)) *situation.Situation {
	t.Helper()
	o := plans.Standing(t, c)
	o.Engine = logged()
	for i := range o.Members {
		o.Members[i].Image = "database:1"
	}
	for _, change := range changes {
		change(&o)
	}
	state.Put(&o, facts)
	return situation.Of(c, o)
}

func TestTheDeploymentMatchesTheGoldenFiles(t *testing.T) {
	facts := archiver.Facts{Image: "operator:1"}
	golden.Compare(t, "archived", archiver.Render(seen(t, archived(), facts), facts))
	full := golden.Input(t, "full")
	o := plans.Standing(t, full)
	o.Engine = logged()
	golden.Compare(t, "full", archiver.Render(situation.Of(full, o), facts))
}

func imageOf(t *testing.T, s *situation.Situation, facts archiver.Facts) string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(archiver.Render(s, facts).Object.Object, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}

func TestTheArchiveRunsAnImageThatIsKnownToStart(t *testing.T) {
	c := archived()
	c.Spec.Image = "database:missing"
	live := &appsv1.Deployment{}
	live.Spec.Template.Spec.Containers = []corev1.Container{{Image: "database:0"}}
	down := func(o *state.Observed) { o.Members = nil }
	for what, one := range map[string]struct {
		facts archiver.Facts
		is    func(*state.Observed)
		want  string
	}{
		"that of a member":                  {archiver.Facts{Deployment: live}, func(*state.Observed) {}, "database:1"},
		"while none serves, that it has":    {archiver.Facts{Deployment: live}, down, "database:0"},
		"if it has none, that of the spec":  {archiver.Facts{}, down, "database:missing"},
		"not that of a member that is down": {archiver.Facts{}, func(o *state.Observed) { o.Members[0].Image, o.Members[0].Ready = "database:bad", false }, "database:1"},
	} {
		if got := imageOf(t, seen(t, c, one.facts, one.is), one.facts); got != one.want {
			t.Errorf("%s: %s, want %s", what, got, one.want)
		}
	}
}

func TestTheConditionSaysOnlyWhatThePodHasShown(t *testing.T) {
	pod := func(ready bool, since time.Duration, change func(*state.Member)) archiver.Facts {
		m := &state.Member{Name: "orders-archive-1", Ready: ready, ReadySince: metav1.NewTime(plans.Now.Add(-since))}
		if change != nil {
			change(m)
		}
		facts := archiver.Facts{Image: "operator:1", Pod: m, Deployment: &appsv1.Deployment{}}
		rendered := archiver.Render(seen(t, archived(), archiver.Facts{Image: "operator:1"}), facts).Object.Object
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered, facts.Deployment); err != nil {
			t.Fatal(err)
		}
		return facts
	}
	probe := func(m *state.Member) { m.Probe = "the archive has no commits yet" }
	for want, one := range map[string]struct {
		facts archiver.Facts
		is    func(*state.Observed)
	}{
		"False ArchiveBehind: the operator runs without its flag --transfer-image": {archiver.Facts{}, nil},
		"False ArchiveStarting: the archive waits for a member that serves":        {archiver.Facts{Image: "operator:1"}, func(o *state.Observed) { o.Members = nil }},
		"False ArchiveStarting: Deployment orders-archive has no pod yet":          {archiver.Facts{Image: "operator:1"}, nil},
		"True Archiving: the newest commits in the archive at s3://backups/prod/shop/orders/archive-" + plans.UID + " are at most about 2m5s old": {
			pod(true, time.Hour, nil), nil,
		},
		"False ArchiveStarting: Deployment orders-archive does not match the spec yet": {
			archiver.Facts{Image: "operator:1", Pod: &state.Member{Ready: true}, Deployment: &appsv1.Deployment{}}, nil,
		},
		"False ArchiveBehind: Deployment orders-archive has another owner":                                           {archiver.Facts{Image: "operator:1", Taken: true}, nil},
		"False ArchiveStarting: pod orders-archive-1 of the archive starts":                                          {pod(false, time.Minute, nil), nil},
		"False ArchiveStarting: pod orders-archive-1 of the archive is not ready: the archive has no commits yet":    {pod(false, time.Minute, probe), nil},
		"False ArchiveBehind: pod orders-archive-1 of the archive is not ready: the archive has no commits yet. The": {pod(false, time.Hour, probe), nil},
		"False ArchiveBehind: pod orders-archive-1 of the archive ImagePullBackOff": {
			pod(false, time.Minute, func(m *state.Member) { m.Problem = "ImagePullBackOff" }), nil,
		},
	} {
		if one.is == nil {
			one.is = func(*state.Observed) {}
		}
		decision := archiver.Subject.Decide(seen(t, archived(), one.facts, one.is))
		c := decision.Report(subject.Executed{}, &dbv1.DatabaseClusterStatus{})[0]
		if got := string(c.Status) + " " + c.Reason + ": " + c.Message; !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
