/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

func (e execution) onLifecycle(ctx context.Context, o operation.Lifecycle) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.AddFinalizer:
		return nil, e.addFinalizer(ctx)
	case operation.RunHook:
		return e.runHook(ctx, o)
	case operation.Finalize:
		return e.finalize(ctx, o)
	}
	return nil, unknown(o)
}

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=create;patch

func (e execution) runHook(ctx context.Context, o operation.RunHook) ([]kit.Event, error) {
	if _, err := e.Writer.Create(ctx, o.Object.Object); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("HookStarted", "RunHook", fmt.Sprintf("deletion hook %q started as %s", o.Hook, o.Object))}, nil
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/finalizers,verbs=update

func (e execution) addFinalizer(ctx context.Context) error {
	before := e.Declared.DeepCopy()
	controllerutil.AddFinalizer(e.Declared, dbv1.Finalizer)
	return e.Writer.Change(ctx, before, e.Declared)
}

func (e execution) finalize(ctx context.Context, o operation.Finalize) ([]kit.Event, error) {
	before := e.Declared.DeepCopy()
	controllerutil.RemoveFinalizer(e.Declared, dbv1.Finalizer)
	if err := e.Writer.Change(ctx, before, e.Declared); err != nil || o.Kept == "" {
		return nil, err
	}
	return []kit.Event{kit.Warning("VolumesRetained", "Finalize", o.Kept)}, nil
}
