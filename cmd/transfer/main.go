/*
SPDX-License-Identifier: Apache-2.0
*/

// Command transfer streams a backup or a restore of one database member. It runs in Jobs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/dbcluster/databasecluster-operator/internal/transfer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	code := int(transfer.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	stop()
	os.Exit(code)
}
