// Command local builds the tools of this project and runs a real Kubernetes on this machine, using only the Go module
// registry and Debian packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// repo is the root of the checkout. If it is empty, the commands search above the working directory.
var repo string

// exitCodeError exits with the code of another program, without a message.
type exitCodeError int

func (e exitCodeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	var code exitCodeError
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	root := &cobra.Command{
		Use: "local", Short: "Build the tools of this project and run a real Kubernetes on this machine",
		SilenceUsage: true, SilenceErrors: true, // main prints the error
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.PersistentFlags().StringVar(&repo, "repo", "", "root of the repository (default: looked for above the working folder)")
	root.AddCommand(nodeCommands()...)
	root.AddCommand(toolCommand(), controlPlaneCommand(), imageCommand(), csiDriverCommand(), networkPoliciesCommand())
	return root
}

// parentOf returns a command with required subcommands.
func parentOf(use, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: use, Short: short, RunE: func(parent *cobra.Command, arguments []string) error {
		var names []string
		for _, command := range commands {
			names = append(names, command.Name())
		}
		return fmt.Errorf("%s takes one of %s, not %q", parent.Name(), strings.Join(names, ", "), strings.Join(arguments, " "))
	}}
	parent.FParseErrWhitelist.UnknownFlags = true // or a flag of the misspelled subcommand would be the error
	parent.AddCommand(commands...)
	return parent
}

// required adds a required flag.
func required(command *cobra.Command, value *string, name, usage string) {
	command.Flags().StringVar(value, name, "", usage)
	_ = command.MarkFlagRequired(name) // it fails for a flag that is not there
}
