/*
SPDX-License-Identifier: Apache-2.0
*/

// Command kubectl-dbc is the plugin of kubectl for DatabaseClusters: kubectl dbc.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/cli"
)

// version is set by the linker.
var version = "unknown"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	code := cli.Run(ctx, version, os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	stop()
	os.Exit(code)
}
