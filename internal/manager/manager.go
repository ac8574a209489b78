/*
SPDX-License-Identifier: Apache-2.0
*/

// Package manager wires the operator: its settings, caches, controllers and endpoints.
package manager

import (
	"context"
	"crypto/rand"
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
	"github.com/dbcluster/databasecluster-operator/internal/kinds"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/kubelet"
	"github.com/dbcluster/databasecluster-operator/internal/logs"
	"github.com/dbcluster/databasecluster-operator/internal/metrics"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// A failed pass is retried with a delay between these limits. A correction by the user, such as a larger quota,
// starts no pass.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Minute
)

// cachesFilled is a check of /readyz: an operator that cannot list its objects is not ready.
func cachesFilled(caches cache.Cache) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not synced yet: see the operator's log for kinds that it cannot list")
		}
		return nil
	}
}

// controllerOptions are the options of each controller, with its own queue.
func (s *Settings) controllerOptions() ctrlcontroller.Options {
	return ctrlcontroller.Options{
		MaxConcurrentReconciles: s.concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// New returns a manager that is ready to start.
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
		Writer: apply.Writer{Client: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Events: mgr.GetEventRecorder(dbv1.FieldOwner),
		Clock:  clock.RealClock{},
		Logs:   logs.Reader{Pods: pods, Events: pods},
	}
	policies, err := admission.Protection()
	if err != nil {
		return nil, fmt.Errorf("read the admission policies: %w", err)
	}
	meter, err := kubelet.New(mgr.GetConfig(), settings.kubeletAuthority)
	if err != nil {
		return nil, err
	}
	for _, r := range kinds.All(base, kinds.Needs{
		Meter: meter, Measured: meter.Signals(),
		TransferImage: settings.transferImage, ClusterDomain: clusterDomain(resolvConf), NameServers: settings.nameServers(resolvConf),
		Policies:        policies,
		ReferencePeriod: settings.referencePeriod, Random: rand.Reader, Process: rand.Text(), Started: time.Now(),
		Comparisons: &objects.Comparisons{}, Nodes: readsNodes(ctx, mgr.GetAPIReader(), log),
	}) {
		if err := kit.SetUp(ctx, mgr, r, settings.controllerOptions()); err != nil {
			return nil, fmt.Errorf("set a controller up: %w", err)
		}
	}
	engines := &acceptance.Reconciler{Writer: apply.Writer{Client: mgr.GetClient()}, Clock: clock.RealClock{}, Log: log}
	err = errors.Join(
		engines.SetupWithManager(mgr, settings.controllerOptions()),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesFilled(mgr.GetCache())),
		mgr.Add(metrics.Exporter{Objects: mgr.GetCache(), Engines: engines.Known, Registry: ctrlmetrics.Registry}),
		mgr.Add(meter),
		declareUpgradeable(mgr, log),
		settings.install(mgr, log),
	)
	if err != nil {
		return nil, fmt.Errorf("set the controllers up: %w", err)
	}
	return mgr, nil
}
