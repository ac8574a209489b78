/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	if record, is := o.(operation.Record); is {
		p.Plan.Recorded = &record
	}
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

// groups are the API groups of the kinds that the operator deletes by name. Others are in the core group.
var groups = map[string]schema.GroupVersion{
	"DatabaseBackup": dbv1.GroupVersion, resources.CertificateKind.Kind: resources.CertificateKind.GroupVersion(),
	"Job": batchv1.SchemeGroupVersion, "NetworkPolicy": networkingv1.SchemeGroupVersion,
	"Role": rbacv1.SchemeGroupVersion, "RoleBinding": rbacv1.SchemeGroupVersion,
}

// belonging identifies an object in the cluster's namespace.
func (e execution) belonging(kind, name string) *unstructured.Unstructured {
	group, found := groups[kind]
	if !found {
		group = corev1.SchemeGroupVersion
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(group.WithKind(kind))
	object.SetNamespace(e.Cluster.Namespace)
	object.SetName(name)
	return object
}
