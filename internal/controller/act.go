/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// execution executes the plan of one pass.
type execution struct {
	*Reconciler
	*situation.Situation
	// message is the current action of the pass, or what it waits for.
	message string
}

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	return execution{r, p.Facts, p.Plan.Message}.execute(ctx, o)
}

// execute executes one operation.
func (e execution) execute(ctx context.Context, o operation.Operation) ([]kit.Event, error) {
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
	case operation.Certificates:
		return e.onCertificates(ctx, o)
	default:
		return nil, unknown(o)
	}
}

func unknown(o operation.Operation) error { return fmt.Errorf("unknown operation %T", o) }

// belonging identifies an object of the core group, a DatabaseBackup, or a Certificate of cert-manager, in the cluster's
// namespace.
func (e execution) belonging(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	if kind == "DatabaseBackup" {
		object.SetGroupVersionKind(dbv1.GroupVersion.WithKind(kind))
	}
	if kind == resources.CertificateKind.Kind {
		object.SetGroupVersionKind(resources.CertificateKind)
	}
	object.SetNamespace(e.Cluster.Namespace)
	object.SetName(name)
	return object
}
