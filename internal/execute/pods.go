/*
SPDX-License-Identifier: Apache-2.0
*/

package execute

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters;databasebackups,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/finalizers;databasebackups/finalizers,verbs=update

// finalizer adds or removes the operator's finalizer.
func (h Hands) finalizer(ctx context.Context, f operation.Finalizer) error {
	if f.Own {
		return h.setFinalizer(ctx, h.Object, f.Remove)
	}
	_, err := operation.OnEach(f.Pods, func(pod operation.Target) error {
		_, err := h.onPod(ctx, pod, f.Remove)
		return err
	})
	return err
}

// onPod adds or removes the operator's finalizer on a pod, and returns the pod. It returns nil if the pod does not need that: it has been
// replaced, or terminates without the finalizer. The next pass reads it.
func (h Hands) onPod(ctx context.Context, target operation.Target, remove bool) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	found, err := h.API().Find(ctx, client.ObjectKey{Namespace: h.Object.GetNamespace(), Name: target.Name}, pod)
	if err != nil || !found || pod.UID != target.UID || !remove && pod.DeletionTimestamp != nil {
		return nil, err
	}
	if err = h.setFinalizer(ctx, pod, remove); remove {
		err = client.IgnoreNotFound(err)
	}
	return pod, err
}

// setFinalizer changes the object, too: the status of the pass is for its new version.
func (h Hands) setFinalizer(ctx context.Context, object client.Object, remove bool) error {
	before, _ := object.DeepCopyObject().(client.Object)
	change := controllerutil.AddFinalizer
	if remove {
		change = controllerutil.RemoveFinalizer
	}
	if !change(object, dbv1.Finalizer) {
		return nil
	}
	return h.Writer.Change(ctx, before, object)
}

// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch

// resize changes the resources of a running member.
func (h Hands) resize(ctx context.Context, o operation.Resize) ([]kit.Event, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: h.Object.GetNamespace(), Name: o.Pod.Name, UID: o.Pod.UID, ResourceVersion: o.Pod.Version,
	}}
	err := h.Writer.Resize(ctx, pod, naming.Container, o.Resources)
	if apierrors.IsInvalid(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || nodeIsTooSmall(err) {
		return h.recordRefusal(ctx, o, apierrors.ReasonForError(err))
	}
	return h.once(o.Work, err)
}

// recordRefusal records on a pod that the API server requires a restart for other resources, for example for another QoS class. A
// restart is another decision: a primary first hands over.
func (h Hands) recordRefusal(ctx context.Context, o operation.Resize, why metav1.StatusReason) ([]kit.Event, error) {
	refused := map[string]any{"metadata": map[string]any{"annotations": map[string]string{dbv1.AnnotationResizeRefused: o.Revision}}}
	if err := h.Writer.Merge(ctx, o.Pod.In(h.Object.GetNamespace()), refused); err != nil {
		return nil, client.IgnoreNotFound(err) // without the pod, the next pass decides again
	}
	return []kit.Event{kit.Normal("ResizeRefused", "Resize", fmt.Sprintf(
		"the resources of pod %s cannot be changed in place (%s), so it restarts", o.Pod.Name, why))}, nil
}

// nodeIsTooSmall reports whether a resize was rejected because the node is too small: a re-created pod may run on a
// larger node.
//
// An exceeded quota is Forbidden, too, but it would also prevent the creation of the pod. The text is that of
// Kubernetes' admission plugin PodResize.
func nodeIsTooSmall(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "node didn't have enough allocatable resources")
}
