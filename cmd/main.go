/*
SPDX-License-Identifier: Apache-2.0
*/

// Command manager runs the DatabaseCluster operator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	_ "time/tzdata" // the image contains no time zones

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/dbcluster/databasecluster-operator/internal/manager"
)

// version is set by the linker.
var version = "unknown"

func main() {
	settings, err := manager.Parse(os.Args[1:], os.LookupEnv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case settings.ShowVersion:
		fmt.Println(version)
		return
	}
	log := settings.Logger()
	ctrl.SetLogger(log)
	if err := run(ctrl.SetupSignalHandler(), settings, log); err != nil {
		log.Error(err, "the operator stops")
		os.Exit(1)
	}
}

// run runs the operator until the context ends or leadership is lost.
func run(ctx context.Context, settings manager.Settings, log logr.Logger) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("load the configuration of the Kubernetes client: %w", err)
	}
	mgr, err := manager.New(ctx, config, settings, log)
	if err != nil {
		return err
	}
	log.Info("starting", "version", version)
	return mgr.Start(ctx)
}
