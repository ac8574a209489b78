/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"crypto/tls"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	dbcontroller "github.com/dbcluster/databasecluster-operator/internal/controller"
)

// reconcileTimeout ends a pass if the API server does not respond.
const reconcileTimeout = 30 * time.Second

// options configure the manager: standby replicas keep warm caches, and a leader that exits releases its Lease.
func (s *Settings) options(scheme *runtime.Scheme) ctrl.Options {
	warm := true
	return ctrl.Options{
		Scheme:                        scheme,
		MapperProvider:                newMapper,
		Cache:                         s.cacheOptions(),
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

// cacheOptions restrict the cache to the operator's objects and the PodDisruptionBudgets of others, and pods to the fields that it reads.
func (s *Settings) cacheOptions() cache.Options {
	whole := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{dbv1.LabelManagedBy: dbv1.LabelManagedByValue})}
	ours := cache.ByObject{Label: whole.Label, Transform: dbcontroller.Sharing(cache.TransformStripManagedFields())}
	options := cache.Options{
		SyncPeriod:       &s.syncPeriod,
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Service{}:               ours,
			&appsv1.StatefulSet{}:           ours,
			&policyv1.PodDisruptionBudget{}: {Transform: ours.Transform}, // those of others may select members
			&networkingv1.NetworkPolicy{}:   ours,
			&batchv1.Job{}:                  ours,
			&corev1.ConfigMap{}:             whole,
			&corev1.PersistentVolumeClaim{}: {Label: whole.Label, Transform: dbcontroller.Sharing(dbcontroller.TrimClaim)},
			&corev1.Pod{}:                   {Label: podSelector(), Transform: dbcontroller.Sharing(dbcontroller.TrimPod)},
		},
	}
	for _, namespace := range s.namespaces() {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// podSelector selects members and the pods of actions. A member without the label managed-by still serves clients,
// and the StatefulSet selects pods by other labels.
func podSelector() labels.Selector {
	return labels.SelectorFromSet(labels.Set{dbv1.LabelName: dbv1.LabelNameValue})
}
