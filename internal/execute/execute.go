/*
SPDX-License-Identifier: Apache-2.0
*/

// Package execute sends what a plan has decided: each verb has one place, whatever the kind of object and its subject.
package execute

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

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

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;delete

// Execute executes one operation, and returns the events about it.
func (h Hands) Execute(ctx context.Context, o operation.Operation) ([]kit.Event, error) {
	verb, is := o.(operation.Verb)
	if !is {
		return nil, fmt.Errorf("unknown operation %T", o)
	}
	switch verb := verb.(type) {
	case operation.Create:
		done, err := operation.OnEach(verb.Objects, func(child objects.Child) error { return h.create(ctx, child) })
		return events(h, verb.Work, done, err), err
	case operation.Change:
		done, err := operation.OnEach(verb.Patches, func(patch operation.Patch) error { return h.Writer.Change(ctx, patch.Before, patch.After) })
		return events(h, verb.Work, done, err), err
	}
	return nil, fmt.Errorf("unknown operation %T", o)
}

// events is the event about an operation, if there is one to record.
func events[T fmt.Stringer](h Hands, work operation.Work, done []T, err error) []kit.Event {
	switch event := work.Event; {
	case event.Reason == "":
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

func (h Hands) create(ctx context.Context, child objects.Child) error {
	_, err := h.Writer.Create(ctx, child.Object)
	return err
}
