package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/provisioner"
)

const provisionerUsage = "usage: local provisioner --kubeconfig FILE --dir DIR"

func init() {
	commands = append(commands, command{
		"provisioner", "--kubeconfig FILE --dir DIR", "make volumes out of directories of this machine, until SIGTERM", runProvisioner,
	})
}

func runProvisioner(ctx context.Context, _ string, arguments []string) error {
	set := flag.NewFlagSet("provisioner", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, provisionerUsage) }
	kubeconfig := set.String("kubeconfig", "", "how to reach the API server")
	dir := set.String("dir", "", "the folder that holds a directory for each volume")
	if err := set.Parse(arguments); err != nil {
		return fmt.Errorf("provisioner: %w", err)
	}
	switch {
	case set.NArg() > 0:
		return fmt.Errorf("provisioner: %q is no flag\n%s", set.Arg(0), provisionerUsage)
	case *kubeconfig == "":
		return errors.New("provisioner: --kubeconfig is empty: name the kubeconfig of the cluster")
	case *dir == "":
		return errors.New("provisioner: --dir is empty: name the folder that shall hold the volumes")
	}
	return provisioner.Run(ctx, *kubeconfig, *dir)
}
