/*
SPDX-License-Identifier: Apache-2.0
*/

// Package execute sends what a plan has decided: each verb has one place, whatever the kind of object and its subject.
package execute

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Hands execute the operations of a pass.
type Hands struct {
	kit.Base
	// Object is the object of the pass.
	Object client.Object
	// Purpose is why the pass executes operations. Events without a note have it.
	Purpose string
}

// Execute executes one operation, and returns the events about it.
func (h Hands) Execute(ctx context.Context, o operation.Operation) ([]kit.Event, error) {
	verb, is := o.(operation.Verb)
	if !is {
		return nil, fmt.Errorf("unknown operation %T", o)
	}
	switch verb := verb.(type) {
	case operation.Create:
		return h.create(ctx, verb)
	case operation.Apply:
		return h.once(verb.Work, h.apply(ctx, verb))
	case operation.Change:
		return h.change(ctx, verb)
	case operation.Delete:
		return h.delete(ctx, verb)
	case operation.Resize:
		return h.resize(ctx, verb)
	case operation.Recreate:
		return h.once(verb.Work, h.recreate(ctx, verb))
	case operation.Finalizer:
		return h.once(verb.Work, h.finalizer(ctx, verb))
	case operation.Record: // the status has it
		return h.once(verb.Work, nil)
	}
	return nil, fmt.Errorf("unknown operation %T", o)
}

// once is the result of an operation on one object.
func (h Hands) once(work operation.Work, err error) ([]kit.Event, error) {
	return events(h, work, []operation.Work{work}, err), err
}

// events is the event about an operation, if there is one to record.
func events[T fmt.Stringer](h Hands, work operation.Work, done []T, err error) []kit.Event {
	switch event := work.Event; {
	case event.Reason == "" || len(done) == 0:
		return nil
	case work.Listed != "":
		return kit.About(done, work.Listed, event)
	case err != nil:
		return nil
	case event.Note == "":
		event.Note = h.Purpose
		return []kit.Event{event}
	default:
		return []kit.Event{event}
	}
}

// +kubebuilder:rbac:groups="",resources=configmaps;persistentvolumeclaims;secrets,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=patch

func (h Hands) change(ctx context.Context, change operation.Change) ([]kit.Event, error) {
	done, err := operation.OnEach(change.Patches, func(patch operation.Patch) error {
		return change.Judge(h.Writer.Change(ctx, patch.Before, patch.After))
	})
	return events(h, change.Work, done, err), err
}

// +kubebuilder:rbac:groups="",resources=configmaps;persistentvolumeclaims,verbs=create
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=create

func (h Hands) create(ctx context.Context, create operation.Create) ([]kit.Event, error) {
	done, err := operation.OnEach(create.Objects, func(child objects.Child) error {
		object := child.Object
		if create.Timed {
			object = h.timed(object)
		}
		_, err := h.Writer.Create(ctx, object)
		return err
	})
	if create.Instead != nil && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return h.Execute(ctx, create.Instead)
	}
	return events(h, create.Work, done, err), err
}

// timed returns an object with the time of the operator's clock. The time of the decision would be too early if the process was suspended
// since.
func (h Hands) timed(object *unstructured.Unstructured) *unstructured.Unstructured {
	timed, annotations := object.DeepCopy(), object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[dbv1.AnnotationCreated] = h.Clock.Now().UTC().Format(time.RFC3339)
	timed.SetAnnotations(annotations)
	return timed
}
