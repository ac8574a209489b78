/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"crypto/tls"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	dbcontroller "github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/kinds"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// reconcileTimeout ends a pass if the API server does not respond.
const reconcileTimeout = 30 * time.Second

// options configure the manager: standby replicas keep warm caches, and a leader that exits releases its Lease.
func (s *Settings) options(scheme *runtime.Scheme) ctrl.Options {
	warm := true
	return ctrl.Options{
		Scheme:                        scheme,
		MapperProvider:                newMapper,
		Cache:                         s.cacheOptions(scheme),
		Client:                        client.Options{FieldOwner: dbv1.FieldOwner},
		Controller:                    config.Controller{EnableWarmup: &warm, ReconciliationTimeout: reconcileTimeout},
		Metrics:                       s.metricsOptions(),
		HealthProbeBindAddress:        s.healthAddress,
		PprofBindAddress:              s.pprofAddress,
		LeaderElection:                s.leaderElect,
		LeaderElectionID:              "databasecluster-operator",
		LeaderElectionNamespace:       s.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &s.leaseDuration,
		RenewDeadline:                 &s.renewDeadline,
		RetryPeriod:                   &s.retryPeriod,
	}
}

func (s *Settings) metricsOptions() server.Options {
	return server.Options{
		BindAddress:    s.metricsAddress,
		SecureServing:  true,
		FilterProvider: filters.WithAuthenticationAndAuthorization,
		CertDir:        s.metricsCertPath,
		TLSOpts:        []func(*tls.Config){hardenTLS},
	}
}

// hardenTLS disables HTTP/2: scraping does not need it, and a client can exhaust the server by its stream resets
// (CVE-2023-44487).
func hardenTLS(config *tls.Config) {
	config.MinVersion = tls.VersionTLS12
	config.NextProtos = []string{"http/1.1"}
}

// cacheOptions restrict the cache to the operator's objects, the PodDisruptionBudgets of others and nodes, and pods and nodes to the fields
// that it reads.
func (s *Settings) cacheOptions(scheme *runtime.Scheme) cache.Options {
	whole := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{dbv1.LabelManagedBy: dbv1.LabelManagedByValue})}
	ours := cache.ByObject{Label: whole.Label, Transform: dbcontroller.Sharing(cache.TransformStripManagedFields())}
	options := cache.Options{
		SyncPeriod:       &s.syncPeriod,
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&policyv1.PodDisruptionBudget{}: {Transform: ours.Transform}, // those of others may select members
			&corev1.Node{}:                  {Transform: dbcontroller.TrimNode},
			&corev1.ConfigMap{}:             whole,
			&corev1.PersistentVolumeClaim{}: {Label: whole.Label, Transform: dbcontroller.Sharing(dbcontroller.TrimClaim)},
			&corev1.Pod{}:                   {Label: podSelector(), Transform: dbcontroller.Sharing(dbcontroller.TrimPod)},
		},
	}
	known := map[schema.GroupVersionKind]bool{}
	for object := range options.ByObject {
		known[kindOf(object, scheme)] = true
	}
	for _, object := range watched() {
		if kind := kindOf(object, scheme); !known[kind] && kind.Group != dbv1.GroupVersion.Group {
			known[kind], options.ByObject[object] = true, ours
		}
	}
	for _, namespace := range s.namespaces() {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// watched are the objects that start passes.
func watched() (all []client.Object) {
	for _, reconciler := range kinds.All(kit.Base{}, kinds.Needs{}) {
		all = append(all, reconciler.Controller().Objects()...)
	}
	return all
}

// kindOf is the kind of an object, or nothing if the scheme lacks it: then the manager does not start.
func kindOf(object client.Object, scheme *runtime.Scheme) schema.GroupVersionKind {
	kind, _ := apiutil.GVKForObject(object, scheme)
	return kind
}

// podSelector selects members and the pods of actions. A member without the label managed-by still serves clients,
// and the StatefulSet selects pods by other labels.
func podSelector() labels.Selector {
	return labels.SelectorFromSet(labels.Set{dbv1.LabelName: dbv1.LabelNameValue})
}
