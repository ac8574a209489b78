/*
SPDX-License-Identifier: Apache-2.0
*/

package situation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// keeps is a cluster whose members keep a configuration that was written at that time.
func keeps(at time.Time) *situation.Situation {
	e := &dbv1.DatabaseEngine{}
	e.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	e.Spec.State = &dbv1.EngineState{Configuration: &dbv1.EngineStateEntry{ConfigMap: "config", Key: "config"}}
	s := &situation.Situation{Cluster: &dbv1.DatabaseCluster{}}
	s.Engine, s.Kept, s.KeptAt = e, &corev1.ConfigMap{Data: map[string]string{"config": "{}"}}, at
	s.Kept.UID, s.Kept.ResourceVersion = "config", "1"
	return s
}

func TestOnlyAWriteThatPrecedesTheEndOfTheJobIsItsOwn(t *testing.T) {
	ends := jobs.Job{EndsAfter: created.Add(10 * time.Second)}
	since := func(s *situation.Situation) *situation.Situation {
		s.Cluster.Status.Configuration = &dbv1.ClusterConfigurationStatus{ChangedHash: s.KeptWrite()}
		return s
	}
	with := func(change func(*situation.Situation)) *situation.Situation {
		s := keeps(created)
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		s    *situation.Situation
		task jobs.Job
		want bool
	}{
		"before the end":                        {keeps(created.Add(8 * time.Second)), ends, true},
		"in the second of the last check":       {keeps(created.Add(9 * time.Second)), ends, false},
		"in the second of the end":              {keeps(created.Add(10 * time.Second)), ends, false},
		"after the end":                         {keeps(created.Add(time.Hour)), ends, false},
		"at an unknown time":                    {keeps(time.Time{}), ends, false},
		"and the end is unknown":                {keeps(created), jobs.Job{}, false},
		"before the Job started":                {since(keeps(created.Add(time.Hour))), ends, true},
		"before the Job started, in any second": {since(keeps(time.Time{})), jobs.Job{}, true},
		"and the entry does not exist any more": {with(func(s *situation.Situation) { s.Kept.Data = nil }), ends, false},
		"and the ConfigMap does not exist":      {with(func(s *situation.Situation) { s.Kept, s.KeptAt = nil, time.Time{} }), ends, false},
		"and it was written again since the Job started": {with(func(s *situation.Situation) {
			since(s).Kept.ResourceVersion = "2"
			s.KeptAt = created.Add(time.Hour)
		}), ends, false},
		"and it is another one since the Job started": {with(func(s *situation.Situation) {
			s.KeptAt = created.Add(time.Hour)
			since(s).Kept.UID = "another"
		}), ends, false},
		"and it was written again at an unknown time": {with(func(s *situation.Situation) {
			since(s).Kept.ResourceVersion = "2"
			s.KeptAt = time.Time{}
		}), ends, false},
		"and the engine does not keep it": {with(func(s *situation.Situation) { s.Engine.Spec.State = nil }), jobs.Job{}, true},
	} {
		if got := c.s.LeftBy(c.task); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The clocks of the API server and of the kubelet differ by any time, and both drop fractions of seconds.
func TestAWriteAfterTheEndOfAJobIsNeverItsOwn(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	within := func(d time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(d))) }
	for range 10_000 {
		createdAt := created.Add(within(time.Second))
		started := createdAt.Add(within(time.Second))
		ended := started.Add(within(20 * time.Second))
		skew := within(2*time.Hour) - time.Hour
		ofKubelet := func(at time.Time) metav1.Time { return metav1.NewTime(at.Add(skew).Truncate(time.Second)) }
		pod := &corev1.Pod{}
		pod.CreationTimestamp = metav1.NewTime(createdAt.Truncate(time.Second))
		pod.Status.StartTime = new(ofKubelet(started))
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: ofKubelet(ended)},
		}}}
		task := jobs.Job{EndsAfter: jobs.AttemptOf(pod).EndsAfter}
		what := fmt.Sprintf("created %v, started %v, ended %v, clocks differ by %v", createdAt, started, ended, skew)
		if foreign := ended.Add(within(5*time.Second) - time.Second); keeps(foreign.Truncate(time.Second)).LeftBy(task) {
			t.Fatalf("%s: a write at %v counts as that of the Job", what, foreign)
		}
		if own := ended.Add(-6 * time.Second); !keeps(own.Truncate(time.Second)).LeftBy(task) {
			t.Fatalf("%s: a write at %v does not count as that of the Job", what, own)
		}
	}
}
