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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=patch

// addPodFinalizer adds the operator's finalizer to the pod of a member before it stops, so that its exit code can be read.
func (e execution) addPodFinalizer(ctx context.Context, m state.Member) error {
	pod := &corev1.Pod{}
	found, err := e.API().Find(ctx, client.ObjectKey{Namespace: e.Cluster.Namespace, Name: m.Name}, pod)
	if err != nil || !found || pod.UID != m.UID || pod.DeletionTimestamp != nil {
		return err // the next pass reads it
	}
	held := pod.DeepCopy()
	controllerutil.AddFinalizer(held, dbv1.Finalizer)
	return e.Writer.Change(ctx, pod, held)
}

// hold deletes the pod of a member that must not run. The finalizer comes first: without it, the StatefulSet would create the pod again.
func (e execution) hold(ctx context.Context, m state.Member) ([]kit.Event, error) {
	if err := e.addPodFinalizer(ctx, m); err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	found, err := e.API().Find(ctx, client.ObjectKey{Namespace: e.Cluster.Namespace, Name: m.Name}, pod)
	if err != nil || !found || pod.UID != m.UID || pod.DeletionTimestamp != nil || !state.HasFinalizer(pod) {
		return nil, err // the next pass reads it
	}
	if err := e.Writer.Delete(ctx, pod); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Warning("MemberHeld", "Hold", e.message)}, nil
}

// removePodFinalizer removes the operator's finalizer from a pod.
func (r *Reconciler) removePodFinalizer(ctx context.Context, namespace, name string, uid types.UID) error {
	pod := &corev1.Pod{}
	found, err := r.API().Find(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)
	if err != nil || !found || pod.UID != uid || !state.HasFinalizer(pod) {
		return err
	}
	released := pod.DeepCopy()
	controllerutil.RemoveFinalizer(released, dbv1.Finalizer)
	return client.IgnoreNotFound(r.Writer.Change(ctx, pod, released))
}

// Deleted removes the operator's finalizer from the pods of a cluster that no longer exists, for example if a user
// removed the finalizer of the cluster.
func (r *Reconciler) Deleted(ctx context.Context, key client.ObjectKey) error {
	gone := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	o := &subject.ClusterReading{Reading: kit.Reading{View: r.Cache(), Object: gone}, Cluster: gone}
	pods := &corev1.PodList{}
	o.Labeled(ctx, pods, map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: key.Name})
	for i := range pods.Items {
		if pod := &pods.Items[i]; o.Err == nil && state.HasFinalizer(pod) {
			o.Err = r.releaseOrphan(ctx, key, pod)
		}
	}
	return o.Err
}

func (r *Reconciler) releaseOrphan(ctx context.Context, key client.ObjectKey, pod *corev1.Pod) error {
	err := r.Live.Get(ctx, key, &dbv1.DatabaseCluster{})
	if !apierrors.IsNotFound(err) {
		if err != nil {
			return fmt.Errorf("read DatabaseCluster %s: %w", key.Name, err)
		}
		return nil // the cache lags behind
	}
	return r.removePodFinalizer(ctx, key.Namespace, pod.Name, pod.UID)
}
