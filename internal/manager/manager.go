/*
SPDX-License-Identifier: Apache-2.0
*/

// Package manager wires the operator: its settings, caches, controllers and endpoints.
package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/admission"
	"github.com/dbcluster/databasecluster-operator/internal/acceptance"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/backup"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/logs"
	"github.com/dbcluster/databasecluster-operator/internal/metrics"
)

// Between these a pass that failed is tried again. What a human mends meanwhile, a quota for example,
// wakes nobody.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Minute
)

// cachesFilled is an answer to /readyz: an operator that cannot list what it looks after is not ready.
func cachesFilled(caches cache.Cache) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet: see the log for what cannot be listed")
		}
		return nil
	}
}

// controllerOptions are those of each controller, with a queue of its own.
func (s *Settings) controllerOptions() ctrlcontroller.Options {
	return ctrlcontroller.Options{
		MaxConcurrentReconciles: s.concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// New makes a manager that is ready to start.
func New(ctx context.Context, config *rest.Config, settings Settings, log logr.Logger) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	mgr, err := ctrl.NewManager(config, settings.options(scheme))
	if err != nil {
		return nil, fmt.Errorf("set the manager up: %w", err)
	}
	pods, err := corev1client.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("set the reader of logs up: %w", err)
	}
	base := kit.Base{
		Cached: mgr.GetClient(),
		Live:   mgr.GetAPIReader(),
		Writer: apply.Writer{Client: mgr.GetClient()},
		Events: mgr.GetEventRecorder(dbv1.FieldOwner),
		Clock:  clock.RealClock{},
		Logs:   logs.Reader{Pods: pods, Events: pods},
	}
	clusters := &controller.Reconciler{Base: base, TransferImage: settings.transferImage, ReferencePeriod: settings.referencePeriod}
	if clusters.Policies, err = admission.Names(); err != nil {
		return nil, fmt.Errorf("read the admission policies: %w", err)
	}
	backups := &backup.Reconciler{Base: base, TransferImage: settings.transferImage, NameServers: settings.nameServers(resolvConf)}
	engines := &acceptance.Reconciler{Writer: apply.Writer{Client: mgr.GetClient()}, Clock: clock.RealClock{}, Log: log}
	err = errors.Join(
		clusters.SetupWithManager(ctx, mgr, settings.controllerOptions()),
		backups.SetupWithManager(ctx, mgr, settings.controllerOptions()),
		engines.SetupWithManager(mgr, settings.controllerOptions()),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesFilled(mgr.GetCache())),
		mgr.Add(metrics.Exporter{Clusters: mgr.GetCache(), Registry: ctrlmetrics.Registry}),
		declareUpgradeable(mgr, log),
		settings.install(mgr, log),
	)
	if err != nil {
		return nil, fmt.Errorf("set the controllers up: %w", err)
	}
	return mgr, nil
}
