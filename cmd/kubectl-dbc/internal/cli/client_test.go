/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// visited are a member and a Secret to which a client can connect.
func visited() (visit, []client.Object) {
	member := &corev1.Pod{ObjectMeta: named("orders-0", nil)}
	member.Spec.Containers = []corev1.Container{{Name: "database", Image: "database:1"}}
	cluster := &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}
	return visit{cluster: cluster, pod: "orders-0", secret: "mine", command: "true"}, []client.Object{member, secretOf("mine", nil)}
}

var patient = jobFlags{start: time.Minute, longest: time.Hour}

func jobsOf(t *testing.T, of *target) []batchv1.Job {
	t.Helper()
	list := &batchv1.JobList{}
	if err := of.List(context.WithoutCancel(t.Context()), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestTheJobOfAClientIsDeletedWhateverInterruptsItsCreation(t *testing.T) {
	for name, c := range map[string]struct {
		// create is the answer of the API server, after it has created the Job.
		create func(interrupt func()) error
		want   string
	}{
		"a signal": {func(interrupt func()) error { interrupt(); return nil }, "interrupted"},
		"a connection that breaks after the Job was created": {func(func()) error { return io.ErrUnexpectedEOF }, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := offline(t)
			ctx, interrupt := context.WithCancel(t.Context())
			created := false
			v, objects := visited()
			of := targetOf(t, interceptor.Funcs{Create: func(ctx context.Context, api client.WithWatch, o client.Object, options ...client.CreateOption) error {
				created = true
				return errors.Join(api.Create(ctx, o, options...), c.create(interrupt), ctx.Err()) // the request itself is not interrupted
			}}, objects...)
			err := s.runJob(ctx, of, v, patient)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canceled") {
				t.Errorf("got %v", err)
			}
			if jobs := jobsOf(t, of); !created || len(jobs) != 0 {
				t.Errorf("the Job was created: %t; there are %d", created, len(jobs))
			}
		})
	}
}

func TestAJobThatTheAPIServerRefusesIsNotDeleted(t *testing.T) {
	s, _, _ := offline(t)
	v, objects := visited()
	of := targetOf(t, interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "orders", errors.New("no right"))
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			t.Error("a Job is deleted that another client may have created")
			return nil
		},
	}, objects...)
	if err := s.runJob(t.Context(), of, v, patient); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

func TestAClientDoesNotStartWithAnImpossibleRequest(t *testing.T) {
	s, _, _ := offline(t)
	v, objects := visited()
	of := targetOf(t, interceptor.Funcs{}, objects...)
	if err := s.runJob(t.Context(), of, v, jobFlags{longest: time.Second / 2}); err == nil || !strings.Contains(err.Error(), "--max-duration 500ms is less than one second") {
		t.Errorf("got %v", err)
	}
	v.cluster.Spec.TLS = &dbv1.ClusterTLS{}
	for name, err := range map[string]error{"in a Job": s.runJob(t.Context(), of, v, patient), "here": s.forward(t.Context(), of, v)} {
		if err == nil || !strings.Contains(err.Error(), "--system-roots") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if jobs := jobsOf(t, of); len(jobs) != 0 {
		t.Errorf("there are %d Jobs", len(jobs))
	}
}

// clientIn is the pod of a client in a state.
func clientIn(state corev1.ContainerState) corev1.Pod {
	pod := podWithLog(named("orders-client-1-x", nil), "client")
	pod.UID, pod.Status.ContainerStatuses[0].State = "1234", state
	return *pod
}

func stuck(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

// inTurn sends the pod of a client in one state after another, and then in the last one.
func inTurn(states ...corev1.ContainerState) interceptor.Funcs {
	next := func() corev1.Pod {
		state := states[0]
		if len(states) > 1 {
			states = states[1:]
		}
		return clientIn(state)
	}
	return interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if pods, is := list.(*corev1.PodList); is {
				pods.Items = []corev1.Pod{next()}
				return nil
			}
			return c.List(ctx, list, options...)
		},
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			pod := next()
			pod.DeepCopyInto(o.(*corev1.Pod))
			return nil
		},
	}
}

func TestEachThingThatAClientWaitsForIsPrintedOnce(t *testing.T) {
	streams, _, _, said := genericiooptions.NewTestIOStreams()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	of := targetOf(t, inTurn(stuck("First"), stuck("Second"), stuck("First"), stuck("Second"), running))
	synctest.Test(t, func(t *testing.T) {
		s := &session{IOStreams: streams, now: time.Now}
		name, err := s.begun(t.Context(), of, &batchv1.Job{ObjectMeta: named("orders-client-1", nil)}, time.Minute)
		if err != nil || name != "orders-client-1-x" {
			t.Errorf("got %s, %v", name, err)
		}
	})
	if got, want := said.String(), "Pod orders-client-1-x starts: First\nPod orders-client-1-x starts: Second\n"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestTheEventsOfThePodDescribeWhatItWaitsFor(t *testing.T) {
	event := &corev1.Event{ObjectMeta: named("pulling", nil), InvolvedObject: corev1.ObjectReference{UID: "1234"}, Message: "Pulling image"}
	other := &corev1.Event{ObjectMeta: named("another", nil), InvolvedObject: corev1.ObjectReference{UID: "5678"}, Message: "of another pod"}
	pod := clientIn(stuck("ContainerCreating"))
	if got := targetOf(t, interceptor.Funcs{}, event, other).eventsOf(t.Context(), &pod); len(got) != 1 || got[0].Message != "Pulling image" {
		t.Errorf("got %v", got)
	}
}

func TestTheWaitForAnExitCodeIsReported(t *testing.T) {
	streams, _, _, said := genericiooptions.NewTestIOStreams()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	of := targetOf(t, inTurn(running, running, running, running, running, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7}}))
	synctest.Test(t, func(t *testing.T) {
		s := &session{IOStreams: streams, now: time.Now}
		coded, is := errors.AsType[exit](s.ended(t.Context(), of, "orders-client-1-x"))
		if !is || coded.code != 7 {
			t.Errorf("got %+v", coded)
		}
	})
	if got := said.String(); strings.Count(got, "waits for the exit code of pod orders-client-1-x") != 1 {
		t.Errorf("got %q", got)
	}
}

// Other users of a machine can see the arguments of programs.
func TestNoExampleHasAPasswordInAnArgument(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/kubectl-plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	examples := string(page)
	for _, command := range newRoot("v1", streams).Commands() {
		examples += "\n" + command.Example
	}
	assigned, secret := regexp.MustCompile(`\b[A-Z_]+=("[^"]*"|\S+)`), regexp.MustCompile(`\$\{?DBC_(URI|JDBC_URI|PASSWORD|PGPASS)`)
	seen := 0
	for line := range strings.Lines(examples) {
		if !strings.HasPrefix(strings.TrimSpace(line), "kubectl dbc connect") {
			continue
		}
		seen++
		if secret.MatchString(assigned.ReplaceAllString(line, "")) {
			t.Errorf("a password is an argument: %s", line)
		}
	}
	if seen < 6 {
		t.Errorf("there are %d examples", seen)
	}
}

// The controller of Jobs needs a moment for the pod, so a normal start has no note.
func TestAMissingPodIsReportedOnlyAfterSomeLooks(t *testing.T) {
	for within, want := range map[time.Duration]string{
		patience*pause - pause/2: "", patience*pause + pause/2: "Job orders-client-1 has no pod yet: kubectl -n shop describe job orders-client-1 has the cause.\n",
	} {
		streams, _, _, said := genericiooptions.NewTestIOStreams()
		of := targetOf(t, interceptor.Funcs{})
		synctest.Test(t, func(t *testing.T) {
			s := &session{IOStreams: streams, now: time.Now}
			if _, err := s.begun(t.Context(), of, &batchv1.Job{ObjectMeta: named("orders-client-1", nil)}, within); err == nil {
				t.Error("a client without a pod has begun")
			}
		})
		if said.String() != want {
			t.Errorf("after %s: got %q", within, said)
		}
	}
}
