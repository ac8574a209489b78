/*
SPDX-License-Identifier: Apache-2.0
*/

package execute

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// +kubebuilder:rbac:groups="",resources=services;configmaps;secrets;serviceaccounts,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=create;patch
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=create;patch
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors;prometheusrules,verbs=create;patch

// apply writes an object. A StatefulSet may need a record of the spec that the API server stored: after a crash before the record, the
// next pass repeats the write.
func (h Hands) apply(ctx context.Context, apply operation.Apply) error {
	if apply.UID == "" {
		_, err := h.Writer.Create(ctx, apply.Object)
		return err
	}
	stored, err := h.update(ctx, apply)
	if err != nil {
		return err
	}
	hash, err := apply.Unrecorded(stored)
	if err != nil || hash == "" {
		return err
	}
	return h.Writer.Annotate(ctx, stored, dbv1.AnnotationStoredSpec, hash)
}

// update removes fields owned by others, and applies the object unless that was its only drift.
func (h Hands) update(ctx context.Context, apply operation.Apply) (*unstructured.Unstructured, error) {
	version := apply.Version
	if len(apply.Removals) > 0 {
		patched, err := h.Writer.Patch(ctx, apply.Object, version, apply.Removals)
		if err != nil || apply.IsIn(patched) {
			return patched, err
		}
		version = patched.GetResourceVersion()
	}
	return h.Writer.Update(ctx, apply.Object, apply.UID, version)
}
