/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
)

// jobFlags are the flags of a client in a Job.
type jobFlags struct {
	wanted         bool
	start, longest time.Duration
}

// runJob runs a client in a Job, and deletes the Job.
func (s *session) runJob(ctx context.Context, t *target, c visit, f jobFlags) (err error) {
	if f.longest < time.Second {
		return fmt.Errorf("--max-duration %s is less than one second", f.longest)
	}
	client := connecting.Client{
		Cluster: c.cluster, Member: &corev1.Pod{}, Secret: &corev1.Secret{}, Command: c.command,
		Name: c.cluster.Name + "-client-" + rand.String(8),
	}
	client.Terminal, client.Seconds = isTerminal(s.In) && isTerminal(s.Out), int64(f.longest.Seconds())
	if err := errors.Join(t.read(ctx, client.Secret, "Secret", c.secret), t.read(ctx, client.Member, "Pod", c.pod)); err != nil {
		return err
	}
	if err := connecting.Check(c.cluster, client.Secret, c.systemRoots); err != nil {
		return err
	}
	job, err := client.Job()
	if err != nil {
		return err
	}
	refused := false
	defer func() {
		if !refused {
			err = errors.Join(err, t.deleteJob(ctx, job))
		}
	}()
	if refused, err = t.createJob(ctx, job); err != nil {
		return err
	}
	return s.visit(ctx, t, job, client.Terminal, f.start)
}

// visit attaches to the client when it runs, and waits for its end.
func (s *session) visit(ctx context.Context, t *target, job *batchv1.Job, terminal bool, within time.Duration) error {
	pod, err := s.begun(ctx, t, job, within)
	if err == nil {
		if err = s.attach(ctx, t, pod, terminal); err != nil {
			err = fmt.Errorf("the plugin cannot attach to pod %s: %w", pod, err)
		}
	}
	if ctx.Err() != nil {
		return errors.New("the command was interrupted")
	}
	if err != nil {
		return err
	}
	return s.ended(ctx, t, pod)
}

// createJob creates a Job, even if the user interrupts the command meanwhile: otherwise the API server could create it after its deletion.
// It reports whether the API server refused the Job. Without an answer, the Job can exist.
func (t *target) createJob(ctx context.Context, job *batchv1.Job) (refused bool, err error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	err = t.Create(ctx, job)
	answer, is := errors.AsType[*apierrors.StatusError](err)
	return is && answer.ErrStatus.Code >= http.StatusBadRequest && answer.ErrStatus.Code < http.StatusInternalServerError, err
}

// deleteJob deletes a Job with its pod, even if the user has interrupted the command.
func (t *target) deleteJob(ctx context.Context, job *batchv1.Job) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	if err := client.IgnoreNotFound(t.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
		return fmt.Errorf("job %s was not deleted, and Kubernetes deletes it after its end: %w", job.Name, err)
	}
	return nil
}

// begun waits until the client runs, and returns its pod.
func (s *session) begun(ctx context.Context, t *target, job *batchv1.Job, within time.Duration) (name string, err error) {
	said, looks := map[string]bool{}, 0
	err = s.until(ctx, &waiting{wanted: true, timeout: within}, func(ctx context.Context) (bool, string, error) {
		pods := &corev1.PodList{}
		labels := client.MatchingLabels{batchv1.JobNameLabel: job.Name}
		if err := t.List(ctx, pods, client.InNamespace(t.namespace), labels); err != nil {
			return false, "", err
		}
		looks++
		switch {
		case len(pods.Items) == 0 && looks <= patience: // the controller of Jobs creates it
			return false, "", nil
		case len(pods.Items) == 0:
			return false, fmt.Sprintf("Job %s has no pod yet: kubectl -n %s describe job %s has the cause.", job.Name, t.namespace, job.Name), nil
		}
		pod := &pods.Items[0]
		name = pod.Name
		begun, state, err := connecting.Begun(pod, t.eventsOf(ctx, pod))
		if said[state] { // a pod alternates between states when a node pulls an image again
			state = ""
		}
		said[state] = true
		return begun, state, err
	})
	return name, err
}

// eventsOf are the events of a pod; none without the right to list them.
func (t *target) eventsOf(ctx context.Context, pod *corev1.Pod) []corev1.Event {
	list := &corev1.EventList{}
	_ = t.List(ctx, list, client.InNamespace(pod.Namespace), client.MatchingFields{"involvedObject.uid": string(pod.UID)})
	return list.Items
}

// patience is the number of looks after which the command reports that it waits for the pod, or for its exit code.
const patience = 3

// ended waits for the exit code of the client, which becomes that of the plugin.
func (s *session) ended(ctx context.Context, t *target, name string) error {
	for looks := 1; ; looks++ {
		pod := &corev1.Pod{}
		if err := t.read(ctx, pod, "Pod", name); err != nil {
			return err
		}
		switch code, ended := connecting.Ended(pod); {
		case ended && code == 0:
			return nil
		case ended:
			return exit{code: code}
		case looks == patience:
			s.say("The client is no longer connected. The command waits for the exit code of pod %s. Ctrl-C deletes the Job.", name)
		}
		select {
		case <-ctx.Done():
			return errors.New("the command was interrupted")
		case <-time.After(pause):
		}
	}
}

// attach connects the streams of the plugin with the client until that ends.
func (s *session) attach(ctx context.Context, t *target, pod string, terminal bool) error {
	clients, err := t.clientset()
	if err != nil {
		return err
	}
	url := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(t.namespace).Name(pod).SubResource("attach").
		VersionedParams(&corev1.PodAttachOptions{Container: connecting.Container, Stdin: true, Stdout: true, Stderr: !terminal, TTY: terminal},
			clientgoscheme.ParameterCodec).URL()
	websocket, err := remotecommand.NewWebSocketExecutor(t.config, "GET", url.String())
	if err != nil {
		return err
	}
	spdy, err := remotecommand.NewSPDYExecutor(t.config, "POST", url)
	if err != nil {
		return err
	}
	executor, err := remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	return s.stream(ctx, executor, terminal)
}

// stream sends the line that starts the client, and then what the user types.
func (s *session) stream(ctx context.Context, executor remotecommand.Executor, terminal bool) error {
	options := remotecommand.StreamOptions{
		Stdin: io.MultiReader(strings.NewReader(connecting.Start), s.In), Stdout: s.Out, Stderr: s.ErrOut, Tty: terminal,
	}
	if file, is := s.In.(*os.File); terminal && is {
		before, err := term.MakeRaw(int(file.Fd()))
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(int(file.Fd()), before) }()
		options.Stderr, options.TerminalSizeQueue = nil, &sizes{ctx: ctx, terminal: int(file.Fd())}
	}
	return executor.StreamWithContext(ctx, options)
}

// sizes are the sizes of the terminal. It polls, because not every system has a signal for a change.
type sizes struct {
	ctx      context.Context //nolint:containedctx // the interface of client-go has none
	terminal int
	last     remotecommand.TerminalSize
}

// Next returns the next size, or nil at the end.
func (s *sizes) Next() *remotecommand.TerminalSize {
	for s.ctx.Err() == nil {
		width, height, err := term.GetSize(s.terminal)
		size := remotecommand.TerminalSize{Width: uint16(width), Height: uint16(height)} //nolint:gosec // a terminal is small
		if err == nil && size != s.last {
			s.last = size
			return &size
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(pause / 4):
		}
	}
	return nil
}
