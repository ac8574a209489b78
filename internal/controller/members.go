/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// changed is the event of a record about a configuration that another client has changed.
func changed(o operation.Record) []kit.Event {
	if o.Changed == "" {
		return nil
	}
	return []kit.Event{kit.Warning("ConfigurationChanged", "Configure", o.Changed)}
}

func (e execution) onMembers(ctx context.Context, o operation.Members) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.RestartMember:
		return e.deletePod(ctx, o.Member, kit.Normal("MemberRestarted", "Restart", e.message))
	case operation.StopMember:
		return e.deletePod(ctx, o.Member, kit.Normal("MemberStopped", "Stop", e.message))
	case operation.HoldMember:
		return e.hold(ctx, o.Member)
	case operation.ResizeMember:
		return e.resize(ctx, o)
	case operation.Scale:
		return e.scale(ctx, o)
	case operation.RebuildMember:
		return e.rebuild(ctx, o)
	case operation.RunAction:
		return e.runAction(ctx, o)
	case operation.Record: // the status has it
		return changed(o), nil
	case operation.AddPodFinalizer:
		return nil, e.addPodFinalizer(ctx, o.Member)
	case operation.ReleasePods:
		_, err := operation.OnEach(o.Pods, func(p operation.Pod) error { return e.removePodFinalizer(ctx, e.Cluster.Namespace, p.Name, p.UID) })
		return nil, err
	}
	return nil, unknown(o)
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=delete

func (e execution) deletePod(ctx context.Context, m state.Member, done kit.Event) ([]kit.Event, error) {
	if err := e.Writer.Delete(ctx, e.podOf(m)); err != nil {
		return nil, err
	}
	return []kit.Event{done}, nil
}

// podOf identifies a member's pod in the version that the operation was decided on.
func (e execution) podOf(m state.Member) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: e.Cluster.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.Version,
	}}
}

// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch

// resize changes the resources of a running member.
func (e execution) resize(ctx context.Context, o operation.ResizeMember) ([]kit.Event, error) {
	err := e.Writer.Resize(ctx, e.podOf(o.Member), naming.Container, o.Resources)
	switch {
	case apierrors.IsInvalid(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), nodeIsTooSmall(err):
		return e.recordRefusal(ctx, o, apierrors.ReasonForError(err))
	case err != nil:
		return nil, err
	}
	return []kit.Event{kit.Normal("MemberResized", "Resize", e.message)}, nil
}

// recordRefusal records on a pod that the API server requires a restart for other resources, for example for another QoS class. A
// restart is another decision: a primary first hands over.
func (e execution) recordRefusal(ctx context.Context, o operation.ResizeMember, why metav1.StatusReason) ([]kit.Event, error) {
	err := e.Writer.Merge(ctx, operation.PodOf(o.Member).In(e.Cluster.Namespace), map[string]any{"metadata": map[string]any{"annotations": map[string]string{dbv1.AnnotationResizeRefused: o.Revision}}})
	if err != nil {
		return nil, client.IgnoreNotFound(err) // without the pod, the next pass decides again
	}
	return []kit.Event{kit.Normal("ResizeRefused", "Resize", fmt.Sprintf(
		"the resources of pod %s cannot be changed in place (%s), so it restarts", o.Member.Name, why))}, nil
}

// nodeIsTooSmall reports whether a resize was rejected because the node is too small: a re-created pod may run on a
// larger node.
//
// An exceeded quota is Forbidden, too, but it would also prevent the creation of the pod. The text is that of
// Kubernetes' admission plugin PodResize.
func nodeIsTooSmall(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "node didn't have enough allocatable resources")
}

// rebuild deletes the claim before the pod, so that the next pod cannot use it.
func (e execution) rebuild(ctx context.Context, o operation.RebuildMember) ([]kit.Event, error) {
	claim := operation.Target{Kind: "PersistentVolumeClaim", Name: o.Volume.Claim, UID: o.Volume.UID, Version: o.Volume.Version}.In(e.Cluster.Namespace)
	if !o.Volume.Terminating {
		if err := e.Writer.Delete(ctx, claim); err != nil {
			return nil, err
		}
	}
	if !o.Pod {
		return nil, nil
	}
	return e.deletePod(ctx, o.Member, kit.Normal("MemberRebuilt", "Rebuild", e.message))
}

// runAction creates the Job of an action, with the time of the operator's clock: see jobs.Job.EndedFor.
func (e execution) runAction(ctx context.Context, o operation.RunAction) ([]kit.Event, error) {
	job := o.Object.DeepCopy()
	annotations := job.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[dbv1.AnnotationCreated] = e.Clock.Now().UTC().Format(time.RFC3339)
	job.SetAnnotations(annotations)
	if _, err := e.Writer.Create(ctx, job); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("ActionStarted", "Action", e.message)}, nil
}

func (e execution) scale(ctx context.Context, o operation.Scale) ([]kit.Event, error) {
	lowered := e.StatefulSet.DeepCopy()
	lowered.Spec.Replicas = &o.To
	if o.Start != e.Start() {
		lowered.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: o.Start}
	}
	objects.RecordStoredSpec(e.Cluster, e.StatefulSet, lowered)
	if o.Stop {
		metav1.SetMetaDataAnnotation(&lowered.ObjectMeta, dbv1.AnnotationTerminating, deletion.TerminatingMark(e.Cluster))
	}
	if err := e.Writer.Change(ctx, e.StatefulSet, lowered); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("MemberStopped", "ScaleIn", fmt.Sprintf("stopping pod %s-%d", lowered.Name, o.Member))}, nil
}
