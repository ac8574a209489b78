// Command local builds the tools of this project and runs a real Kubernetes on this machine,
// from the Go module registry and Debian's packages alone.
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

// repo is the root of the checkout, looked for above the working folder when empty.
var repo string

// exitCodeError ends the program with the code of another, without a message.
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
	root.AddCommand(toolCommand(), controlPlaneCommand(), imageCommand(), sbomCommand(), csiDriverCommand())
	return root
}

// parentOf makes a command of several, one of which must be named.
func parentOf(use, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: use, Short: short, RunE: func(parent *cobra.Command, arguments []string) error {
		var names []string
		for _, command := range commands {
			names = append(names, command.Name())
		}
		return fmt.Errorf("%s takes one of %s, not %q", parent.Name(), strings.Join(names, ", "), strings.Join(arguments, " "))
	}}
	parent.AddCommand(commands...)
	return parent
}

// required adds a flag that must be given.
func required(command *cobra.Command, value *string, name, usage string) {
	command.Flags().StringVar(value, name, "", usage)
	_ = command.MarkFlagRequired(name) // it fails for a flag that is not there
}
