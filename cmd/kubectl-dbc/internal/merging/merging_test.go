/*
SPDX-License-Identifier: Apache-2.0
*/

package merging_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
)

func TestLinesOfAllMembersAreInTheOrderOfTheirTimes(t *testing.T) {
	logs := []merging.Log{
		{Source: merging.Source{Pod: "orders-0", Container: "database"}, Text: "2026-11-21T14:00:00.1Z one\n2026-11-21T14:00:03Z five\nno time\n"},
		{Source: merging.Source{Pod: "orders-1", Container: "database"}, Text: "2026-11-21T14:00:00.09Z zero\n2026-11-21T15:00:01+01:00 two\n2026-11-21T14:00:02Z "},
	}
	want := "[orders-1/database] zero\n[orders-0/database] one\n[orders-1/database] two\n[orders-1/database] \n[orders-0/database] five\n[orders-0/database] no time\n"
	if got := merging.Merge(logs, false, false); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := merging.Merge(logs[1:], true, false), "[orders-1/database] 2026-11-21T14:00:00.09Z zero\n[orders-1/database] 2026-11-21T14:00:01Z two\n[orders-1/database] 2026-11-21T14:00:02Z \n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestOnlyContainersThatHaveStartedHaveALog(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	member := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-0"}}
	member.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "dbc-version", State: ended}}
	member.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "database", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: ended}, {Name: "waits"},
	}
	job := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a-job", Labels: map[string]string{"batch.kubernetes.io/job-name": "a"}}}
	job.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "action", State: ended}}
	pods := []corev1.Pod{member, job}
	for name, c := range map[string]struct {
		only           string
		jobs, previous bool
		want           []merging.Source
	}{
		"all":             {"", true, false, []merging.Source{{"a-job", "action"}, {"orders-0", "dbc-version"}, {"orders-0", "database"}}},
		"without Jobs":    {"", false, false, []merging.Source{{"orders-0", "dbc-version"}, {"orders-0", "database"}}},
		"one container":   {"database", true, false, []merging.Source{{"orders-0", "database"}}},
		"the logs before": {"", true, true, []merging.Source{{"orders-0", "database"}}},
	} {
		if got := merging.Sources(pods, c.only, c.jobs, c.previous); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
