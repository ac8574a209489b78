// Command local builds the tools of this project and runs a real Kubernetes on this machine,
// from the Go module registry and Debian's packages alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
)

// command is one row of the table of commands.
type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, repo string, arguments []string) error
}

// commands is what usage shows; files that need Linux add theirs.
var commands = []command{
	{"tool", "NAME... | --list", "build tools that are not cached yet and print their paths", runTool},
	{"control-plane", "up | down | status | run [PROGRAM:FLAG...] -- CMD ARG...", "an API server without a node, on loopback", runControlPlane},
}

// exitCodeError ends the program with the code of another, without a message.
type exitCodeError int

func (e exitCodeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	var code exitCodeError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	repo := flags.String("repo", "", "root of the repository (default: looked for above the working folder)")
	flags.Usage = func() { usage(flags.Output(), flags) }
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	name := flags.Arg(0)
	for _, command := range commands {
		if command.name == name {
			return command.run(ctx, *repo, flags.Args()[1:])
		}
	}
	flags.Usage()
	if name == "" || name == "help" {
		return nil
	}
	return fmt.Errorf("command %q is not known: see the list above", name)
}

func usage(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, "usage: local [--repo DIR] COMMAND\n\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, command := range commands {
		fmt.Fprintf(table, "  %s\t%s\n", strings.TrimSpace(command.name+" "+command.arguments), command.summary)
	}
	_ = table.Flush()
	fmt.Fprintln(out)
	flags.PrintDefaults()
}
