package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/csi"
)

const csiDriverUsage = "usage: local csi-driver --socket FILE --dir DIR --node NAME"

func init() {
	commands = append(commands, command{
		"csi-driver", "--socket FILE --dir DIR --node NAME", "make volumes that grow out of files of this machine, until SIGTERM", runCSIDriver,
	})
}

func runCSIDriver(ctx context.Context, _ string, arguments []string) error {
	set := flag.NewFlagSet("csi-driver", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, csiDriverUsage) }
	socket := set.String("socket", "", "where to answer")
	dir := set.String("dir", "", "the folder that holds a file for each volume")
	node := set.String("node", "", "the name of the node")
	if err := set.Parse(arguments); err != nil {
		return fmt.Errorf("csi-driver: %w", err)
	}
	switch {
	case set.NArg() > 0:
		return fmt.Errorf("csi-driver: %q is no flag\n%s", set.Arg(0), csiDriverUsage)
	case *socket == "" || *dir == "" || *node == "":
		return errors.New("csi-driver: --socket, --dir and --node are all needed\n" + csiDriverUsage)
	}
	return csi.Run(ctx, *socket, *dir, *node)
}
