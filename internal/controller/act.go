/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// conflictDelay lets the caches catch up with what changed.
const conflictDelay = 200 * time.Millisecond

// execution carries out the plan of one pass.
type execution struct {
	*Reconciler
	*situation.Situation
	// message says what the pass does or waits for.
	message string
}

// act carries a plan out and returns what people should hear of. One object that cannot be written does
// not keep the others from being written, but it keeps members from being disturbed.
func (r *Reconciler) act(ctx context.Context, s *situation.Situation, todo plan.Plan) ([]happening, error) {
	e := execution{r, s, todo.Message}
	var done []happening
	var required, independent error
	for _, o := range todo.Operations {
		properties := o.Properties()
		if properties.Disruptive && required != nil {
			break
		}
		logf.FromContext(ctx).Info("executing", "operation", o.String(), "reason", todo.Message)
		happened, err := e.execute(ctx, o)
		done = append(done, happened...)
		switch {
		case properties.First && err != nil:
			return done, err
		case properties.Independent:
			independent = errors.Join(independent, err)
		default:
			required = errors.Join(required, err)
		}
	}
	return done, errors.Join(required, independent)
}

// execute executes one operation.
func (e execution) execute(ctx context.Context, o operation.Operation) ([]happening, error) {
	switch o := o.(type) {
	case operation.Lifecycle:
		return e.onLifecycle(ctx, o)
	case operation.Members:
		return e.onMembers(ctx, o)
	case operation.Volumes:
		return e.onVolumes(ctx, o)
	case operation.Objects:
		return e.onObjects(ctx, o)
	case operation.Backups:
		return e.onBackups(ctx, o)
	default:
		return nil, unknown(o)
	}
}

func unknown(o operation.Operation) error { return fmt.Errorf("no way to execute %T", o) }

// belonging names an object of the core group, or a DatabaseBackup, in the cluster's namespace.
func (e execution) belonging(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	if kind == "DatabaseBackup" {
		object.SetGroupVersionKind(dbv1.GroupVersion.WithKind(kind))
	}
	object.SetNamespace(e.Cluster.Namespace)
	object.SetName(name)
	return object
}
