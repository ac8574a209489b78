/*
SPDX-License-Identifier: Apache-2.0
*/

package execute

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// +kubebuilder:rbac:groups="",resources=pods;configmaps;secrets;persistentvolumeclaims;serviceaccounts,verbs=delete
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=delete
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=delete
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors;prometheusrules,verbs=delete

// delete deletes objects in the versions that were decided on.
func (h Hands) delete(ctx context.Context, all operation.Delete) ([]kit.Event, error) {
	var told []kit.Event
	var done []operation.Removal
	var errs []error
	for _, removal := range all.Objects {
		told = append(told, h.logTail(ctx, removal)...)
		deleted, err := h.remove(ctx, all, removal)
		if deleted {
			done = append(done, removal)
		}
		errs = append(errs, err)
		if err != nil && all.Ordered {
			break
		}
	}
	err := errors.Join(errs...)
	return append(told, events(h, all.Work, done, err)...), err
}

// remove deletes one object. A pod to hold is not deleted if it has been replaced, or is terminating: the next pass decides about it.
func (h Hands) remove(ctx context.Context, all operation.Delete, removal operation.Removal) (deleted bool, err error) {
	var object client.Object = removal.In(h.Object.GetNamespace())
	if all.Hold {
		pod, err := h.onPod(ctx, removal.Target, false)
		if pod == nil || err != nil {
			return false, err
		}
		object = pod
	}
	err = h.Writer.Delete(ctx, object, propagation(all, removal.Kind.Kind)...)
	return err == nil, err
}

func propagation(all operation.Delete, kind string) []client.DeleteOption {
	switch {
	case all.Propagation != "":
		return []client.DeleteOption{client.PropagationPolicy(all.Propagation)}
	case kind == "Job":
		return []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationForeground)}
	default:
		return nil
	}
}

// logTail keeps the end of the log of a Job's pod that is deleted to release a volume: in the operator's log and,
// if it fits, in an event. An unreadable log blocks nothing.
func (h Hands) logTail(ctx context.Context, pod operation.Removal) []kit.Event {
	if h.Logs == nil || pod.Log == "" {
		return nil
	}
	text, err := h.Logs.Tail(ctx, h.Object.GetNamespace(), pod.Name, pod.Log)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return nil
	}
	logf.FromContext(ctx).Info("deleting a pod with its volume", "pod", pod.Name, "tail", text)
	head := fmt.Sprintf("pod %s is deleted with its volume; its log ends with: ", pod.Name)
	last := text[max(0, len(text)-(kit.MaxNote-len(head))):]
	// Kubernetes counts events of one action about one object as one event with one note.
	return []kit.Event{kit.Normal("PodLog", "Delete/"+pod.Name, head+strings.ToValidUTF8(last, ""))}
}

// recreate deletes a StatefulSet after its revision has the inputs of the template.
func (h Hands) recreate(ctx context.Context, o operation.Recreate) error {
	if err := h.recordInputs(ctx, o); err != nil {
		return err
	}
	return h.Writer.Delete(ctx, o.StatefulSet.In(h.Object.GetNamespace()), client.PropagationPolicy(metav1.DeletePropagationOrphan))
}

// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;patch

// recordInputs records the inputs of the template with the revision of a StatefulSet that is about to be deleted. The annotations of a
// revision are as old as the revision, and other inputs may have led to the same template since.
func (h Hands) recordInputs(ctx context.Context, o operation.Recreate) error {
	if o.Revision == "" {
		return nil
	}
	revision := &appsv1.ControllerRevision{}
	found, err := h.API().Find(ctx, client.ObjectKey{Namespace: h.Object.GetNamespace(), Name: o.Revision}, revision)
	if err != nil || !found || revision.Annotations[dbv1.AnnotationRenderedFrom] == o.RenderedFrom {
		return err
	}
	annotated := revision.DeepCopy()
	metav1.SetMetaDataAnnotation(&annotated.ObjectMeta, dbv1.AnnotationRenderedFrom, o.RenderedFrom)
	return h.Writer.Change(ctx, revision, annotated)
}
