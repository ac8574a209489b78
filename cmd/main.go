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

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	dbcontroller "github.com/dbcluster/databasecluster-operator/internal/controller"
)

// version is set by the linker.
var version = "unknown"

func main() {
	settings, err := parse(os.Args[1:], os.LookupEnv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case settings.showVersion:
		fmt.Println(version)
		return
	}
	log := settings.logger()
	ctrl.SetLogger(log)
	if err := run(ctrl.SetupSignalHandler(), settings, log); err != nil {
		log.Error(err, "the operator stops")
		os.Exit(1)
	}
}

// run works until the context ends or leadership is lost.
func run(ctx context.Context, s settings, log logr.Logger) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, dbv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("register kinds: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no Kubernetes cluster to work on: %w", err)
	}
	manager, err := ctrl.NewManager(config, s.managerOptions(scheme))
	if err != nil {
		return fmt.Errorf("set the manager up: %w", err)
	}
	reconciler := &dbcontroller.Reconciler{
		Cached: manager.GetClient(),
		Live:   manager.GetAPIReader(),
		Writer: apply.Writer{Client: manager.GetClient()},
		Events: manager.GetEventRecorder(dbv1.FieldOwner),
		Clock:  clock.RealClock{},
	}
	if err := reconciler.SetupWithManager(manager, controller.Options{MaxConcurrentReconciles: s.concurrency}); err != nil {
		return fmt.Errorf("set the controller up: %w", err)
	}
	if err := errors.Join(
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("ping", healthz.Ping),
		declareUpgradeable(ctx, manager, log),
	); err != nil {
		return err
	}
	log.Info("starting", "version", version)
	return manager.Start(ctx)
}
