/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
)

// run runs the plugin without an API server.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	code = Run(t.Context(), "v1", append(args, "--kubeconfig", t.TempDir()+"/none"), streams)
	return out.String(), errOut.String(), code
}

func TestEachCommandHasAnExampleThatRunsIt(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	seen := 0
	for _, command := range newRoot("v1", streams).Commands() {
		seen++
		if !strings.Contains(command.Example, "kubectl dbc "+command.Name()) || command.Short == "" || command.Long == "" {
			t.Errorf("%s has no example, or no text", command.Name())
		}
		out, _, code := run(t, command.Name(), "--help")
		if code != 0 || !strings.Contains(out, "Examples:\n  kubectl dbc "+command.Name()) || !strings.Contains(out, "kubectl dbc "+command.Name()) {
			t.Errorf("%s --help ends with %d:\n%s", command.Name(), code, out)
		}
		for line := range strings.Lines(command.Long + "\n" + command.Example) {
			if len(line) > 140 {
				t.Errorf("%s: a line of the help has %d characters", command.Name(), len(line))
			}
		}
	}
	if seen != 17 {
		t.Errorf("there are %d commands", seen)
	}
}

func TestAnErrorHasASentenceAndACode(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"status"}, 1, "error: name a DatabaseCluster: kubectl dbc status CLUSTER. kubectl get databaseclusters lists them\n"},
		{[]string{"hand-over", "a", "b", "c"}, 1, "error: kubectl dbc hand-over takes CLUSTER [MEMBER], and you gave 3 arguments: a b c\n"},
		{[]string{"why", "--nothing"}, 2, "error: unknown flag: --nothing\n"},
		{[]string{"statsu"}, 1, `unknown command "statsu" for "kubectl dbc"`},
		{[]string{"status", "orders"}, 1, "error: "},
		{[]string{"why", "orders"}, 2, "error: "},
	} {
		if _, stderr, code := run(t, c.args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v ends with %d: %s", c.args, code, stderr)
		}
	}
}

func TestCompletionIsWrittenForEachShell(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, code := run(t, "completion", shell); code != 0 || len(out) < 1000 {
			t.Errorf("%s: %d, %d bytes", shell, code, len(out))
		}
	}
}

func TestAClusterCanHaveItsKindInFrontOfItsName(t *testing.T) {
	for given, want := range map[string]string{
		"orders": "orders", "dbc/orders": "orders", "databasecluster/orders": "orders", "databaseclusters.database.dbcluster.io/orders": "orders", "pod/orders": "pod/orders",
	} {
		if got := nameOf(given); got != want {
			t.Errorf("%s: got %s", given, got)
		}
	}
}

// offline is a session without a terminal.
func offline(t *testing.T) (*session, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	return &session{IOStreams: streams, now: time.Now}, out, errOut
}

func TestWithoutATerminalARiskNeedsTheFlagYes(t *testing.T) {
	s, _, _ := offline(t)
	shop := &target{namespace: "shop", context: "prod"}
	want := "DatabaseCluster orders in namespace shop of context prod: It stops. Add --yes if you want that"
	if err := s.confirm(shop, "It stops.", "orders", false); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(s.confirm(shop, "It stops.", "orders", true), s.confirm(shop, "", "orders", false)); err != nil {
		t.Error(err)
	}
}

func TestTheContextIsTheCurrentOneOrThatOfTheFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	config := "apiVersion: v1\nkind: Config\ncurrent-context: prod\ncontexts: [{name: prod, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, _ := offline(t)
	s.flags = genericclioptions.NewConfigFlags(true)
	*s.flags.KubeConfig = file
	if got := s.context(); got != "prod" {
		t.Errorf("got %q", got)
	}
	*s.flags.Context = "test"
	if got := s.context(); got != "test" {
		t.Errorf("got %q", got)
	}
}

func TestAWaitShowsEachStateOnceAndEndsInTime(t *testing.T) {
	s, _, errOut := offline(t)
	states := []string{"one", "one", "two"}
	done := func(context.Context) (bool, string, error) {
		state := states[0]
		states = states[1:]
		return len(states) == 0, state, nil
	}
	if err := s.until(t.Context(), &waiting{wanted: true, timeout: time.Minute}, done); err != nil || errOut.String() != "one\ntwo\n" {
		t.Errorf("got %v, %q", err, errOut)
	}
	never := func(context.Context) (bool, string, error) { return false, "it waits", nil }
	if err := s.until(t.Context(), &waiting{wanted: true, timeout: time.Millisecond}, never); err == nil || !strings.Contains(err.Error(), "ended after 1ms: it waits") {
		t.Errorf("got %v", err)
	}
	if err := s.until(t.Context(), &waiting{}, nil); err != nil {
		t.Error(err)
	}
}

func TestLogsAreReadFromEachContainer(t *testing.T) {
	s, out, errOut := offline(t)
	pods, sources := fake.NewClientset().CoreV1().Pods("shop"), []merging.Source{{Pod: "orders-0", Container: "database"}, {Pod: "orders-1", Container: "database"}}
	if logs := s.readLogs(t.Context(), pods, sources, &logFlags{tail: 5}); len(logs) != 2 || logs[1].Text != "fake logs" {
		t.Errorf("got %v", logs)
	}
	s.readLogs(t.Context(), pods, sources, &logFlags{most: int64(len("fake logs"))})
	if got := errOut.String(); strings.Count(got, "only the first 9 bytes were read") != 2 {
		t.Errorf("got %s", got)
	}
	if err := s.follow(t.Context(), pods, sources, &logFlags{follow: true}); err != nil || strings.Count(out.String(), "/database] fake logs\n") != 2 {
		t.Errorf("got %v, %s", err, out)
	}
	var mutex sync.Mutex
	out.Reset()
	s.copyLines(strings.NewReader("2026-11-21T14:00:00Z one\nlast"), sources[0], &mutex, false)
	if got, want := out.String(), "[orders-0/database] one\n[orders-0/database] last\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheOptionsOfALogAreThoseOfTheFlags(t *testing.T) {
	got := (&logFlags{since: 90 * time.Second, tail: -1, previous: true}).options("database")
	if *got.SinceSeconds != 90 || got.TailLines != nil || !got.Previous || !got.Timestamps || got.Container != "database" {
		t.Errorf("got %+v", got)
	}
	if got := (&logFlags{tail: 3}).options(""); got.SinceSeconds != nil || *got.TailLines != 3 {
		t.Errorf("got %+v", got)
	}
}

// A client of this machine gets the environment, and its exit code is that of the plugin.
func TestTheClientRunsInAShell(t *testing.T) {
	s, out, _ := offline(t)
	if err := s.run(t.Context(), `echo "$DBC_URI"`, []string{"DBC_URI=here"}); err != nil || out.String() != "here\n" {
		t.Errorf("got %v, %q", err, out)
	}
	coded, is := errors.AsType[exit](s.run(t.Context(), "exit 7", nil))
	if !is || coded.code != 7 {
		t.Errorf("got %+v", coded)
	}
}

func TestAManifestHasNoStatus(t *testing.T) {
	s, out, _ := offline(t)
	if err := s.manifest(&corev1.Pod{Status: corev1.PodStatus{Phase: "Running"}}); err != nil || strings.Contains(out.String(), "status") {
		t.Errorf("got %v, %s", err, out)
	}
}

// A request can be refused after the annotation was set, and an accepted one often has no message.
func TestTheStateOfARequestIsPrinted(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}
	cluster.Status.Requests = []dbv1.ClusterRequestStatus{{Request: "a", State: dbv1.RequestAccepted}, {Request: "b", State: dbv1.RequestPending, Message: "it waits"}, {Request: "c", State: dbv1.RequestRefused, Message: "no"}}
	of := targetOf(t, interceptor.Funcs{}, cluster)
	for value, want := range map[string]string{"a": "Accepted", "b": "Pending: it waits", "c": "the operator refuses the request: no", "d": "The operator has not observed the request yet."} {
		_, got, err := of.request(t.Context(), "orders", requests.Change{Value: value})
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

func TestWithoutAWaitTheCommandTellsWhereTheResultIs(t *testing.T) {
	s, _, errOut := offline(t)
	cluster := &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}
	of := targetOf(t, interceptor.Funcs{}, cluster)
	change, err := requests.Rotate(cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []*changing{{yes: true}, {yes: true, wait: &waiting{}}} {
		errOut.Reset()
		if err := s.change(t.Context(), of, cluster.DeepCopy(), change, flags); err != nil || !strings.Contains(errOut.String(), "{.status.requests}") {
			t.Errorf("got %q, %v", errOut, err)
		}
	}
}
