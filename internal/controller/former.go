/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get

// readFormer reads what the StatefulSet was whose members run without one: while it is made anew, or after
// somebody deleted it and left its pods. Kubernetes keeps that as a revision, by the name that the pods bear.
// One that was made anew and not sealed, because of a crash, is compared with it.
func (o *observation) readFormer(ctx context.Context, live client.Reader) {
	if o.StatefulSet != nil && o.StatefulSet.Annotations[dbv1.AnnotationSealed] != "" {
		return
	}
	var newest *appsv1.ControllerRevision
	for _, m := range o.Members {
		revision := &appsv1.ControllerRevision{}
		from := view{Reader: live}
		found := false
		if o.err == nil && m.Revision != "" {
			found, o.err = from.find(ctx, client.ObjectKey{Namespace: o.cluster.Namespace, Name: m.Revision}, revision)
		}
		if found && (newest == nil || revision.Revision > newest.Revision) {
			newest = revision
		}
	}
	if o.err == nil && newest != nil {
		o.Former, o.err = state.FormerOf(newest)
	}
}
