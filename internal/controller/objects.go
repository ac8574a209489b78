/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func (e execution) onObjects(ctx context.Context, o operation.Objects) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.Apply:
		return nil, e.write(ctx, o)
	case operation.MakeAgreement:
		_, err := e.Writer.Create(ctx, o.Object)
		return nil, err
	case operation.AdoptAgreements:
		_, err := operation.OnEach(o.Agreements, func(a state.Agreement) error { return e.adoptAgreement(ctx, a) })
		return nil, err
	case operation.Delete:
		return e.removeAll(ctx, o.Objects)
	case operation.RecreateStatefulSet:
		return e.recreate(ctx)
	}
	return nil, unknown(o)
}

// adoptAgreement records the cluster on an object that belongs to its volumes.
func (e execution) adoptAgreement(ctx context.Context, a state.Agreement) error {
	before, after := e.belonging("ConfigMap", a.Name), e.belonging("ConfigMap", a.Name)
	before.SetResourceVersion(a.Version)
	after.SetResourceVersion(a.Version)
	before.SetLabels(map[string]string{dbv1.LabelClusterUID: string(a.Cluster)})
	after.SetLabels(map[string]string{dbv1.LabelClusterUID: string(e.Cluster.UID)})
	return e.Writer.Change(ctx, before, after)
}

// removeAll deletes objects and records events for volumes.
func (e execution) removeAll(ctx context.Context, all []operation.Removal) ([]kit.Event, error) {
	var volumes []operation.Removal
	var done []kit.Event
	var errs []error
	for _, removal := range all {
		if removal.Kind == "Pod" {
			done = append(done, e.logTail(ctx, removal.Name)...)
		}
		err := e.remove(ctx, removal)
		if err == nil && removal.Kind == "PersistentVolumeClaim" {
			volumes = append(volumes, removal)
		}
		errs = append(errs, err)
	}
	return append(done, kit.About(volumes, ", ", kit.Normal("VolumesDeleted", "Delete", ""))...), errors.Join(errs...)
}

// logTail keeps the end of the log of a Job's pod that is deleted to release a volume: in the operator's log and,
// if it fits, in an event. An unreadable log blocks nothing.
func (e execution) logTail(ctx context.Context, pod string) []kit.Event {
	if e.Logs == nil {
		return nil
	}
	text, err := e.Logs.Tail(ctx, e.Cluster.Namespace, pod, naming.ActionContainer)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return nil
	}
	logf.FromContext(ctx).Info("deleting a pod with its volume", "pod", pod, "tail", text)
	head := fmt.Sprintf("pod %s is deleted with its volume; its log ends with: ", pod)
	last := text[max(0, len(text)-(kit.MaxNote-len(head))):]
	// Kubernetes counts events of one action about one object as one event with one note.
	return []kit.Event{kit.Normal("PodLog", "Delete/"+pod, head+strings.ToValidUTF8(last, ""))}
}

// +kubebuilder:rbac:groups="",resources=configmaps;secrets;persistentvolumeclaims;serviceaccounts,verbs=delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=delete

func (e execution) remove(ctx context.Context, removal operation.Removal) error {
	return e.hands().Remove(ctx, removal)
}

// +kubebuilder:rbac:groups="",resources=services;configmaps;secrets;serviceaccounts,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=create;patch

func (e execution) write(ctx context.Context, write operation.Apply) error {
	if write.UID == "" {
		_, err := e.Writer.Create(ctx, write.Object)
		return err
	}
	if write.RecordsStoredSpec() && len(write.Removals) == 0 {
		write.Object = objects.RecordGeneration(write.Object, e.StatefulSet)
	}
	stored, err := e.update(ctx, write)
	if err != nil || !write.RecordsStoredSpec() || objects.Recorded(stored) {
		return err
	}
	return e.recordStoredSpec(ctx, stored)
}

// update removes fields owned by others, and applies the object unless that was its only drift.
func (e execution) update(ctx context.Context, write operation.Apply) (*unstructured.Unstructured, error) {
	version := write.Version
	if len(write.Removals) > 0 {
		patched, err := e.Writer.Patch(ctx, write.Object, version, write.Removals)
		if err != nil || write.IsIn(patched) {
			return patched, err
		}
		version = patched.GetResourceVersion()
	}
	return e.Writer.Update(ctx, write.Object, write.UID, version)
}

// recordStoredSpec records the hash of the spec that the API server stored, after a write that did not change the spec once, unless the
// status has that hash and the write recorded nothing. After a crash in between, the next pass repeats the write.
func (e execution) recordStoredSpec(ctx context.Context, stored *unstructured.Unstructured) error {
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, set); err != nil {
		return fmt.Errorf("read the stored StatefulSet %s: %w", stored.GetName(), err)
	}
	hash := objects.StoredSpecHash(set)
	if written := e.Cluster.Status.StatefulSet; written != nil && written.SpecHash == hash && !objects.RecordsNext(set) {
		return nil
	}
	return e.Writer.Annotate(ctx, stored, dbv1.AnnotationStoredSpec, hash)
}

// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=delete

func (e execution) recreate(ctx context.Context) ([]kit.Event, error) {
	if err := e.recordTemplateInputs(ctx); err != nil {
		return nil, err
	}
	if err := e.Writer.Delete(ctx, e.StatefulSet, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("StatefulSetRecreated", "Recreate", e.message)}, nil
}
