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
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
)

// visits are examples. No client gets the password as an argument.
var visits = []string{
	`  kubectl dbc connect orders --command 'PGPASSWORD=$DBC_PASSWORD psql -h localhost -p "$DBC_PORT" -U "$DBC_USERNAME" "$DBC_DATABASE"'`,
	`  kubectl dbc connect orders --port 5432`,
	`  kubectl dbc connect orders --job --user reporting`,
}

func (s *session) connect() *cobra.Command {
	var member, user string
	var f jobFlags
	var c visit
	cmd := &cobra.Command{
		Use:   "connect CLUSTER",
		Short: "Forward a port to the database and run a client of this machine, or run a client in a Job",
		Long: "Forward a port of this machine to the primary, or to a ready member. With --command, a shell runs a client of this machine.\n" +
			"It has each key of the connection Secret as an environment variable, such as DBC_URI, DBC_USERNAME, DBC_PASSWORD and\n" +
			"DBC_DATABASE. DBC_HOST and DBC_PORT are those of the forwarded port. With TLS, DBC_CA_FILE is a file with the CA.\n\n" +
			"Other users of a machine can see the arguments of programs. So give a client the password as a variable, and not as an argument:\n" +
			"DBC_URI has the password, too.\n\n" +
			"With --job, the client runs in a Job with the image of the members, so this machine needs no client. It connects to the Service.\n" +
			"Without --command, it is an interactive shell. Its exit code is that of the plugin, which deletes the Job at the end.",
		Example:           strings.Join(visits, "\n"),
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.command, "command", "", "Command for sh. Default: forward the port until you interrupt it, or with --job a shell")
	flags.StringVar(&member, "member", "", "Name of the pod, or its number. Default: the primary, or a ready member")
	flags.StringVar(&c.secret, "secret", "", "Name of another Secret in the form of the connection Secret")
	flags.StringVar(&user, "user", "", "Name of a DatabaseUser, whose Secret the client gets. Default: the connection Secret of the cluster")
	flags.Uint16Var(&c.port, "port", 0, "Port of this machine. Default: a free one")
	flags.BoolVar(&c.systemRoots, "system-roots", false,
		"With TLS: connect although the Secret has no CA. The client verifies the server by the CAs of its system")
	flags.BoolVar(&f.wanted, "job", false, "Run the client in a Job of the namespace, and not on this machine")
	flags.DurationVar(&f.start, "start-timeout", 2*time.Minute, "Time within which the pod of --job must start")
	flags.DurationVar(&f.longest, "max-duration", time.Hour, "Time after which Kubernetes ends the client of --job")
	_ = cmd.RegisterFlagCompletionFunc("user", s.userNames) // it fails only without the flag
	cmd.MarkFlagsMutuallyExclusive("secret", "user")
	cmd.MarkFlagsMutuallyExclusive("job", "port")
	cmd.MarkFlagsMutuallyExclusive("job", "member")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c.cluster = cluster
		if c.secret, err = t.secretOf(cmd.Context(), cluster, c.secret, user); err != nil {
			return err
		}
		if c.pod, err = connecting.Member(cluster, member); err != nil {
			return err
		}
		if f.wanted {
			return s.runJob(cmd.Context(), t, c, f)
		}
		return s.forward(cmd.Context(), t, c)
	}
	return cmd
}

// visit is a client and where it connects.
type visit struct {
	cluster              *dbv1.DatabaseCluster
	pod, secret, command string
	port                 uint16
	systemRoots          bool
}

// forward forwards the port while the client runs.
func (s *session) forward(ctx context.Context, t *target, c visit) error {
	secret, pod := &corev1.Secret{}, &corev1.Pod{}
	if err := errors.Join(t.read(ctx, secret, "Secret", c.secret), t.read(ctx, pod, "Pod", c.pod)); err != nil {
		return err
	}
	if err := connecting.Check(c.cluster, secret, c.systemRoots); err != nil {
		return err
	}
	remote, err := connecting.Port(pod)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kubectl-dbc-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it has only the public certificate
	connection := connecting.Connection{Data: secret.Data}
	if ca := connecting.CA(secret.Data); ca != nil {
		connection.CAFile = filepath.Join(folder, "ca.crt")
		if err := os.WriteFile(connection.CAFile, ca, 0o600); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	local, ended, err := t.forward(ctx, c.pod, c.port, remote)
	if err != nil {
		return err
	}
	connection.LocalPort = local
	if c.command != "" {
		return s.run(ctx, c.command, connection.Environment())
	}
	s.say("Port %d of this machine reaches pod %s until you interrupt the command.", local, c.pod)
	s.say("%s", connection.Summary(t.namespace, c.secret))
	return <-ended
}

// forward forwards a port until the context ends, and returns the port of this machine.
func (t *target) forward(ctx context.Context, pod string, local uint16, remote int32) (uint16, <-chan error, error) {
	transport, upgrader, err := spdy.RoundTripperFor(t.config)
	if err != nil {
		return 0, nil, err
	}
	clients, err := t.clientset()
	if err != nil {
		return 0, nil, err
	}
	url := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(t.namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	ready, ended := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.New(dialer, []string{fmt.Sprintf("%d:%d", local, remote)}, ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		return 0, nil, err
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case err := <-ended:
		return 0, nil, fmt.Errorf("the port of pod %s cannot be forwarded: %w", pod, err)
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil || len(ports) == 0 {
		return 0, nil, fmt.Errorf("the port of pod %s cannot be forwarded: %w", pod, err)
	}
	return ports[0].Local, ended, nil
}

// run runs the client in a shell of this machine. Its exit code is that of the plugin.
func (s *session) run(ctx context.Context, command string, environment []string) error {
	shell := exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // the user's own command
	shell.Env = append(os.Environ(), environment...)
	shell.Stdin, shell.Stdout, shell.Stderr = s.In, s.Out, s.ErrOut
	err := shell.Run()
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		return exit{code: max(ended.ExitCode(), 1)}
	}
	return err
}
