/*
SPDX-License-Identifier: Apache-2.0
*/

// Package manager wires the operator: its settings, caches, controllers and endpoints.
package manager

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
)

// New makes a manager that is ready to start.
func New(config *rest.Config, settings Settings, log logr.Logger) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	mgr, err := ctrl.NewManager(config, settings.options(scheme))
	if err != nil {
		return nil, fmt.Errorf("set the manager up: %w", err)
	}
	clusters := &controller.Reconciler{
		Cached: mgr.GetClient(),
		Live:   mgr.GetAPIReader(),
		Writer: apply.Writer{Client: mgr.GetClient()},
		Events: mgr.GetEventRecorder(dbv1.FieldOwner),
		Clock:  clock.RealClock{},
	}
	err = errors.Join(
		clusters.SetupWithManager(mgr, ctrlcontroller.Options{MaxConcurrentReconciles: settings.concurrency}),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("ping", healthz.Ping),
		declareUpgradeable(mgr, log),
	)
	if err != nil {
		return nil, fmt.Errorf("set the controllers up: %w", err)
	}
	return mgr, nil
}
