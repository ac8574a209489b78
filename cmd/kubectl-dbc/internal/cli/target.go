/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/status"
)

// target is a namespace of an API server.
type target struct {
	client.Client
	namespace string
	config    *rest.Config
	// context is that of the kubeconfig; empty for none.
	context string
}

// scheme has the kinds that the plugin reads and writes.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, dbv1.AddToScheme(s)
}

func (s *session) target() (*target, error) {
	config, err := s.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100 // a report reads the logs of all containers
	namespace, _, err := s.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	known, err := scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		return nil, fmt.Errorf("the API server cannot be reached: %w", err)
	}
	return &target{c, namespace, config, s.context()}, nil
}

// context is the context of the kubeconfig that the command uses; empty for none.
func (s *session) context() string {
	if name := *s.flags.Context; name != "" {
		return name
	}
	raw, err := s.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}

// clientset is the client for logs, which are no objects.
func (t *target) clientset() (*kubernetes.Clientset, error) { return kubernetes.NewForConfig(t.config) }

// read reads an object of the namespace. Its error is a sentence.
func (t *target) read(ctx context.Context, object client.Object, kind, name string) error {
	err := t.Get(ctx, types.NamespacedName{Namespace: t.namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s does not exist in namespace %s", kind, name, t.namespace)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("the API server has no kind %s: the CRDs of the operator are not installed there", kind)
	}
	return err
}

// cluster reads the cluster that a command names.
func (s *session) cluster(ctx context.Context, name string) (*target, *dbv1.DatabaseCluster, error) {
	t, err := s.target()
	if err != nil {
		return nil, nil, err
	}
	cluster, err := t.cluster(ctx, name)
	return t, cluster, err
}

func (t *target) cluster(ctx context.Context, name string) (*dbv1.DatabaseCluster, error) {
	cluster := &dbv1.DatabaseCluster{}
	return cluster, t.read(ctx, cluster, "DatabaseCluster", nameOf(name))
}

func (t *target) clusterNames(ctx context.Context) ([]string, error) {
	list := &dbv1.DatabaseClusterList{}
	if err := t.List(ctx, list, client.InNamespace(t.namespace)); err != nil {
		return nil, err
	}
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Name)
	}
	return names, nil
}

func (t *target) backups(ctx context.Context) ([]dbv1.DatabaseBackup, error) {
	list := &dbv1.DatabaseBackupList{}
	err := t.List(ctx, list, client.InNamespace(t.namespace))
	if meta.IsNoMatchError(err) {
		err = fmt.Errorf("the API server has no kind DatabaseBackup: the CRDs of the operator are not installed there: %w", err)
	}
	return list.Items, err
}

// ofObjects are the labels of all objects of a cluster. Other applications can have the second one.
func ofObjects(cluster string) map[string]string {
	return map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: cluster}
}

// podsOf are the pods of a cluster with a component; "" for all.
func (t *target) podsOf(ctx context.Context, cluster, component string) ([]corev1.Pod, error) {
	labels := client.MatchingLabels(ofObjects(cluster))
	if component != "" {
		labels[dbv1.LabelComponent] = component
	}
	list := &corev1.PodList{}
	err := t.List(ctx, list, client.InNamespace(t.namespace), labels)
	return list.Items, err
}

// lags are the lags of replicas; none if the engine or the pods cannot be read.
func (t *target) lags(ctx context.Context, cluster *dbv1.DatabaseCluster) map[string]int64 {
	pods, err := t.podsOf(ctx, cluster.Name, dbv1.ComponentDatabase)
	if err != nil {
		return nil
	}
	return status.Lags(cluster, t.engine(ctx, cluster), pods)
}

// engine is the engine of a cluster. It is an object of the whole cluster of Kubernetes, which a user may not be allowed to read.
func (t *target) engine(ctx context.Context, cluster *dbv1.DatabaseCluster) *dbv1.DatabaseEngine {
	engine := &dbv1.DatabaseEngine{}
	if cluster.Spec.Engine == "" || t.Get(ctx, types.NamespacedName{Name: cluster.Spec.Engine}, engine) != nil {
		return nil
	}
	return engine
}

// apply sends a change of an object.
func (t *target) apply(ctx context.Context, object client.Object, change requests.Change) error {
	return t.Patch(ctx, object, client.RawPatch(types.MergePatchType, change.Patch), client.FieldOwner("kubectl-dbc"))
}
