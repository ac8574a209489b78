/*
SPDX-License-Identifier: Apache-2.0
*/

// Package cli has the commands of the plugin. It reads objects and writes what the other packages decide.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// session is what all commands share.
type session struct {
	genericiooptions.IOStreams
	flags *genericclioptions.ConfigFlags
	now   func() time.Time
}

// exit is an error with an exit code. Its message may be empty if the command has printed the result.
type exit struct {
	code    int
	message string
}

func (e exit) Error() string { return e.message }

// Run runs the plugin and returns the exit code: 1 for an error. The commands why and diff have their own codes.
func Run(ctx context.Context, version string, args []string, streams genericiooptions.IOStreams) int {
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	root := newRoot(version, streams)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if command.Name() == "why" || command.Name() == "diff" {
		code = 2 // 1 is the code of a cluster that is not healthy, and of a difference
	}
	if coded, is := errors.AsType[exit](err); is {
		code = coded.code
	}
	if err.Error() != "" {
		fmt.Fprintln(streams.ErrOut, "error: "+err.Error())
	}
	return code
}

func newRoot(version string, streams genericiooptions.IOStreams) *cobra.Command {
	s := &session{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true), now: time.Now}
	root := &cobra.Command{
		Use:   "kubectl-dbc",
		Short: "Look after DatabaseClusters",
		Long: "kubectl dbc shows the state of DatabaseClusters, and requests what you could request with annotations and manifests.\n" +
			"It needs no rights beyond those of its user.",
		Example:       "  kubectl dbc status orders\n  kubectl dbc why orders\n  kubectl dbc restore orders --at 10m --preview",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dbc"},
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	s.flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		s.status(), s.why(), s.backups(), s.backup(), s.verify(), s.restore(), s.handOver(), s.rebuild(), s.restart(), s.rotate(),
		s.hibernate(), s.wake(), s.diff(), s.users(), s.logs(), s.connect(), s.report(),
	)
	return root
}

// oneCluster accepts the name of one cluster and at most some more arguments.
func oneCluster(more int, then string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("name a DatabaseCluster: %s CLUSTER%s. kubectl get databaseclusters lists them", cmd.CommandPath(), then)
		case len(args) > 1+more:
			return fmt.Errorf("%s takes CLUSTER%s, and you gave %d arguments: %s", cmd.CommandPath(), then, len(args), strings.Join(args, " "))
		}
		return nil
	}
}

// nameOf is the name of a cluster, which may be written like databasecluster/orders.
func nameOf(arg string) string {
	if kind, name, found := strings.Cut(arg, "/"); found && (kind == "dbc" || strings.HasPrefix(strings.ToLower(kind), "databasecluster")) {
		return name
	}
	return arg
}

// clusterNames completes the names of clusters.
func (s *session) clusterNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	t, err := s.target()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names, err := t.clusterNames(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
