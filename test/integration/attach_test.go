//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// machine is a node whose kubelet runs the client of kubectl dbc connect --job as a process of this machine, when the API server attaches.
type machine struct {
	name string
	// codes are the exit codes by pod.
	codes sync.Map
}

// attachable starts the kubelet of a node.
func attachable(t *testing.T) *machine {
	t.Helper()
	m := &machine{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := m.attach(w, r); err != nil {
			t.Errorf("attach to %s: %v", r.URL, err)
		}
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "attachable-"}}
	createFor(t, node)
	m.name = node.Name
	before := node.DeepCopy()
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.Hostname()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
	if err := admin.Status().Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	return m
}

// act lets a client run on the node until its command has ended, and members be ready.
func (m *machine) act(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] != "client" {
		healthy(pod)
		return
	}
	if pod.Spec.NodeName == "" {
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: m.name}}
		_ = admin.SubResource("binding").Create(context.Background(), pod, binding) // the next turn repeats it
		return
	}
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	pod.Status.Phase = corev1.PodRunning
	if code, ended := m.codes.Load(pod.Name); ended {
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code.(int))}}
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "client", State: state}}
}

// attach serves /attach/NAMESPACE/POD/CONTAINER, as a kubelet does.
func (m *machine) attach(w http.ResponseWriter, r *http.Request) error {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "attach" {
		http.NotFound(w, r)
		return errors.New("this kubelet only attaches")
	}
	pod := &corev1.Pod{}
	if err := admin.Get(r.Context(), client.ObjectKey{Namespace: parts[1], Name: parts[2]}, pod); err != nil {
		return err
	}
	if _, err := httpstream.Handshake(r, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
		return err
	}
	opened := make(chan httpstream.Stream)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		go func() { opened <- s }()
		return nil
	})
	if connection == nil {
		return errors.New("no connection")
	}
	defer connection.Close()
	streams := map[string]httpstream.Stream{}
	for len(streams) < 4 { // without a terminal
		s := <-opened
		streams[s.Headers().Get(corev1.StreamType)] = s
	}
	code, err := runAs(r.Context(), pod, streams)
	if err != nil {
		return err
	}
	m.codes.Store(pod.Name, code)
	return json.NewEncoder(streams[corev1.StreamTypeError]).Encode(metav1.Status{Status: metav1.StatusSuccess})
}

// runAs runs the command of a pod with its environment.
func runAs(ctx context.Context, pod *corev1.Pod, streams map[string]httpstream.Stream) (int, error) {
	container := pod.Spec.Containers[0]
	arguments := make([]string, 0, len(container.Command))
	for _, argument := range container.Command {
		arguments = append(arguments, strings.ReplaceAll(argument, "$$", "$")) // as the kubelet does
	}
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	for _, v := range container.Env {
		value := v.Value
		if v.ValueFrom != nil {
			secret, key := &corev1.Secret{}, v.ValueFrom.SecretKeyRef
			if err := admin.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: key.Name}, secret); err != nil {
				return 0, err
			}
			value = string(secret.Data[key.Key])
		}
		command.Env = append(command.Env, v.Name+"="+value)
	}
	input, err := command.StdinPipe()
	if err != nil {
		return 0, err
	}
	command.Stdout, command.Stderr = streams[corev1.StreamTypeStdout], streams[corev1.StreamTypeStderr]
	go func() {
		_, _ = io.Copy(input, streams[corev1.StreamTypeStdin])
		_ = input.Close()
	}()
	if _, is := errors.AsType[*exec.ExitError](command.Run()); command.ProcessState == nil && !is {
		return 0, errors.New("the command did not start")
	}
	return command.ProcessState.ExitCode(), nil
}

func TestThePluginRunsAClientInAJobAndPassesItsResultOn(t *testing.T) {
	parallel(t)
	m := attachable(t)
	cluster := started(t, nil, m.act)
	ns := cluster.Namespace
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine"}, StringData: map[string]string{"uri": "any://app:correct-horse@orders"}})
	for _, c := range []struct {
		command, input, want string
		code                 int
	}{
		{`echo "$DBC_URI"`, "", "any://app:correct-horse@orders\n", 0},
		{`echo out; echo err >&2; exit 7`, "", "out\n", 7},
		{`cat; echo end`, "SELECT 1\n", "SELECT 1\nend\n", 0},
		{`echo $((1 + 1))`, "", "2\n", 0},
	} {
		t.Run(c.command, func(t *testing.T) {
			path, err := plugin()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), path, "-n", ns, "connect", "orders", "--job", "--secret", "mine", "--command", c.command,
				"--kubeconfig="+kubeconfig(t, "", ""), "--cache-dir="+t.TempDir())
			var out, said strings.Builder
			command.Stdin, command.Stdout, command.Stderr = strings.NewReader(c.input), &out, &said
			if err := command.Run(); command.ProcessState == nil {
				t.Fatal(err)
			}
			if code := command.ProcessState.ExitCode(); code != c.code || out.String() != c.want {
				t.Errorf("the exit code is %d, want %d, and the output %q:\n%s", code, c.code, out.String(), said.String())
			}
		})
	}
	eventually(t, "the Jobs and their pods to be deleted", func() error {
		pods := listed(t, ns, &corev1.PodList{}, clients()).Items
		return errorIf(len(pods) > 0, "%d pods", len(pods))
	})
}

func TestThePluginDeletesTheJobOfAClientWhenTheTerminalIsClosed(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] != "client" {
			healthy(pod)
		}
	})
	ns := cluster.Namespace
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine"}, StringData: map[string]string{"password": "correct-horse"}})
	path, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, "-n", ns, "connect", "orders", "--job", "--secret", "mine", "--command", "true",
		"--kubeconfig="+kubeconfig(t, "", ""), "--cache-dir="+t.TempDir())
	var said strings.Builder
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	seen := make(chan batchv1.Job, 1)
	repeatUntilSeen(t, ns, seen)
	<-seen
	if err := command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // the exit code is checked below
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "the command was interrupted") {
		t.Errorf("the exit code is %d:\n%s", code, said.String())
	}
	eventually(t, "the Job to be deleted", func() error {
		jobs := listed(t, ns, &batchv1.JobList{}, clients()).Items
		return errorIf(len(jobs) > 0, "%d Jobs", len(jobs))
	})
}
