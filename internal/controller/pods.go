/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Deleted removes the operator's finalizer from the pods of a cluster that no longer exists, for example if a user
// removed the finalizer of the cluster.
func (r *Reconciler) Deleted(ctx context.Context, key client.ObjectKey) error {
	if r.Meter != nil {
		r.Meter.Ask(key, nil)
	}
	gone := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	o := &subject.ClusterReading{Reading: kit.Reading{View: r.Cache(), Object: gone}, Cluster: gone}
	pods := &corev1.PodList{}
	o.Labeled(ctx, pods, map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: key.Name})
	for i := range pods.Items {
		if pod := &pods.Items[i]; o.Err == nil && state.HasFinalizer(pod) {
			o.Err = r.releaseOrphan(ctx, gone, pod)
		}
	}
	return o.Err
}

func (r *Reconciler) releaseOrphan(ctx context.Context, gone *dbv1.DatabaseCluster, pod *corev1.Pod) error {
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(gone), &dbv1.DatabaseCluster{})
	if !apierrors.IsNotFound(err) {
		if err != nil {
			return fmt.Errorf("read DatabaseCluster %s: %w", gone.Name, err)
		}
		return nil // the cache lags behind
	}
	release := operation.Finalizer{Pods: []operation.Target{{Name: pod.Name, UID: pod.UID}}, Remove: true}
	_, err = execute.Hands{Base: r.Base, Object: gone}.Execute(ctx, release)
	return err
}
