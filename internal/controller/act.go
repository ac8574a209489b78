/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// conflictDelay lets the caches catch up with what changed.
const conflictDelay = 200 * time.Millisecond

// act carries a plan out and returns what people should hear of. One object that cannot be written does
// not keep the others from being written, but it keeps members from being disturbed. A volume that cannot
// grow keeps nothing, nor does a backup.
func (r *Reconciler) act(ctx context.Context, cluster *dbv1.DatabaseCluster, observed state.Observed, todo plan.Plan) ([]happening, error) {
	if todo.AddFinalizer {
		if err := r.addFinalizer(ctx, cluster); err != nil {
			return nil, err
		}
	}
	done, claimErr := r.resizeClaims(ctx, cluster, todo.Claims)
	claimErr = errors.Join(claimErr, r.labelClaims(ctx, cluster, todo.Labels))
	more, backupErr := r.actOnBackups(ctx, cluster, todo.Backups)
	done, aside := append(done, more...), errors.Join(claimErr, backupErr)
	adopted, err := r.adopt(ctx, cluster, todo.Adopt)
	done = append(done, adopted...)
	errs := []error{err}
	for _, release := range todo.Release {
		logf.FromContext(ctx).Info("releasing", "pod", release.Pod)
		errs = append(errs, r.release(ctx, cluster.Namespace, release.Pod, release.UID))
	}
	for _, write := range todo.Apply {
		logf.FromContext(ctx).Info("applying", "write", write.String())
		errs = append(errs, r.write(ctx, write))
	}
	removed, err := r.removeAll(ctx, cluster, todo.Delete)
	done, errs = append(done, removed...), append(errs, err)
	if err := errors.Join(errs...); err != nil || todo.Step == nil {
		return done, errors.Join(err, aside)
	}
	logf.FromContext(ctx).Info("taking a step", "step", todo.Step.String(), "reason", todo.Why)
	taken, err := r.take(ctx, cluster, observed, todo)
	return append(done, taken...), errors.Join(err, aside)
}

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=patch

// resizeClaims asks for other sizes; each claim is still to be as it was when that was decided. What was done
// is told at once: events of one reason about one object are folded into one, whatever they say.
func (r *Reconciler) resizeClaims(ctx context.Context, cluster *dbv1.DatabaseCluster, all []plan.ClaimResize) ([]happening, error) {
	var resized []string
	var errs []error
	for _, c := range all {
		claim := belonging(cluster, "PersistentVolumeClaim", c.Volume.Claim)
		_, err := r.Writer.Patch(ctx, claim, c.Volume.Version, []resources.Operation{
			{Op: "replace", Path: "/spec/resources/requests/storage", Value: c.Size.String()},
		})
		if err == nil {
			resized = append(resized, c.String())
		}
		errs = append(errs, err)
	}
	if len(resized) == 0 {
		return nil, errors.Join(errs...)
	}
	return []happening{normal("VolumeResizing", "Resize", "resizing "+strings.Join(resized, ", "))}, errors.Join(errs...)
}

// adopt writes on claims whose they are; each is still to be as it was when that was decided.
func (r *Reconciler) adopt(ctx context.Context, cluster *dbv1.DatabaseCluster, all []plan.Adoption) ([]happening, error) {
	var taken []string
	var errs []error
	for _, a := range all {
		before := belonging(cluster, "PersistentVolumeClaim", a.Volume.Claim)
		before.SetResourceVersion(a.Volume.Version)
		after := before.DeepCopy()
		before.SetAnnotations(formerNotes(a))
		after.SetAnnotations(engineNote(a.Engine))
		after.SetLabels(map[string]string{dbv1.LabelClusterUID: string(cluster.UID)})
		err := r.Writer.Change(ctx, before, after)
		if err == nil && a.Taken {
			taken = append(taken, a.String())
		}
		errs = append(errs, err)
	}
	if len(taken) == 0 {
		return nil, errors.Join(errs...)
	}
	return []happening{normal("VolumesAdopted", "Adopt", "taken over from an earlier cluster of this name: "+strings.Join(taken, ", "))}, errors.Join(errs...)
}

// formerNotes are those of which nothing but the new engine's stays: that an earlier cluster's volume was once filled from a
// backup tells nothing of this one's.
func formerNotes(a plan.Adoption) map[string]string {
	notes := engineNote(a.Volume.Engine)
	if a.Taken && a.Volume.Restored != "" {
		notes[dbv1.AnnotationRestored] = a.Volume.Restored
	}
	return notes
}

// engineNote is never nil: a patch from some annotations to none at all would take all off that the claim has.
func engineNote(engine string) map[string]string {
	if engine == "" {
		return map[string]string{}
	}
	return map[string]string{dbv1.AnnotationEngine: engine}
}

// removeAll deletes objects and tells of volumes.
func (r *Reconciler) removeAll(ctx context.Context, cluster *dbv1.DatabaseCluster, all []plan.Removal) ([]happening, error) {
	var volumes []string
	var done []happening
	var errs []error
	for _, removal := range all {
		if removal.Kind == "Pod" {
			done = append(done, r.lastWords(ctx, cluster, removal.Name)...)
		}
		logf.FromContext(ctx).Info("deleting", "object", removal.String())
		err := r.remove(ctx, cluster, removal)
		if err == nil && removal.Kind == "PersistentVolumeClaim" {
			volumes = append(volumes, removal.String())
		}
		errs = append(errs, err)
	}
	if len(volumes) > 0 {
		done = append(done, normal("VolumesDeleted", "Delete", strings.Join(volumes, ", ")))
	}
	return done, errors.Join(errs...)
}

// lastWords keeps the end of the log of a Job's pod that is deleted because it keeps a volume: in the operator's own log
// and, as far as there is room, in an event. A log that cannot be read holds up nothing.
func (r *Reconciler) lastWords(ctx context.Context, cluster *dbv1.DatabaseCluster, pod string) []happening {
	if r.Logs == nil {
		return nil
	}
	text, err := r.Logs.Tail(ctx, cluster.Namespace, pod, naming.ActionContainer)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return nil
	}
	logf.FromContext(ctx).Info("the log of a pod that is deleted with its volume", "pod", pod, "tail", text)
	head := fmt.Sprintf("the log of pod %s, which is deleted with the volume, ends: ", pod)
	last := text[max(0, len(text)-(maxNote-len(head))):]
	// Events of one action about one object are counted as one, with one note.
	return []happening{normal("PodLog", "Delete/"+pod, head+strings.ToValidUTF8(last, ""))}
}

// +kubebuilder:rbac:groups="",resources=configmaps;persistentvolumeclaims,verbs=delete

func (r *Reconciler) remove(ctx context.Context, cluster *dbv1.DatabaseCluster, removal plan.Removal) error {
	object := belonging(cluster, removal.Kind, removal.Name)
	object.SetUID(removal.UID)
	object.SetResourceVersion(removal.Version)
	if removal.Kind == "Job" { // goes after its pods: nothing of it runs any more when it is gone
		object.SetAPIVersion(batchv1.SchemeGroupVersion.String())
		return r.Writer.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationForeground))
	}
	return r.Writer.Delete(ctx, object)
}

// belonging names an object of the core group, or a DatabaseBackup, in the cluster's namespace.
func belonging(cluster *dbv1.DatabaseCluster, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	if kind == "DatabaseBackup" {
		object.SetGroupVersionKind(dbv1.GroupVersion.WithKind(kind))
	}
	object.SetNamespace(cluster.Namespace)
	object.SetName(name)
	return object
}

// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch

func (r *Reconciler) write(ctx context.Context, write plan.Write) error {
	stored, err := r.store(ctx, write)
	if err != nil || !write.Sealed() {
		return err
	}
	return r.seal(ctx, stored)
}

func (r *Reconciler) store(ctx context.Context, write plan.Write) (*unstructured.Unstructured, error) {
	if write.UID == "" {
		return r.Writer.Create(ctx, write.Object)
	}
	version := write.Version
	if len(write.Eviction) > 0 {
		var err error
		if version, err = r.Writer.Patch(ctx, write.Object, version, write.Eviction); err != nil {
			return nil, err
		}
	}
	return r.Writer.Update(ctx, write.Object, write.UID, version)
}

// seal notes what the API server made of a write. When a crash keeps it from that, the next pass writes
// the same again.
func (r *Reconciler) seal(ctx context.Context, stored *unstructured.Unstructured) error {
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, set); err != nil {
		return fmt.Errorf("read StatefulSet %s as it was stored: %w", stored.GetName(), err)
	}
	return r.Writer.Annotate(ctx, stored, dbv1.AnnotationSealed, resources.Seal(set))
}
