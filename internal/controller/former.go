/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;list;patch

// readFormer reads what the StatefulSet was whose members run without one: while it is made anew, or after
// somebody deleted it and left its pods. Kubernetes keeps that as a revision, the newest one. The pods do not
// tell which: one that was given its resources while it ran bears the revision that it was made from.
func (o *observation) readFormer(ctx context.Context, live client.Reader) {
	if o.err != nil || o.StatefulSet != nil || len(o.Members) == 0 {
		return
	}
	labels := naming.Selector(o.cluster.Name)
	labels[dbv1.LabelClusterUID] = string(o.cluster.UID)
	revisions := &appsv1.ControllerRevisionList{}
	if err := live.List(ctx, revisions, client.InNamespace(o.cluster.Namespace), client.MatchingLabels(labels)); err != nil {
		o.err = fmt.Errorf("list the revisions of %s: %w", o.cluster.Name, err)
		return
	}
	var newest *appsv1.ControllerRevision
	for i := range revisions.Items {
		if newest == nil || revisions.Items[i].Revision > newest.Revision {
			newest = &revisions.Items[i]
		}
	}
	if newest != nil {
		o.Former, o.err = state.FormerOf(newest)
	}
}

// remember notes with the revision of a StatefulSet that is about to go what its template was made from. A
// revision has the annotations of when it was made, and something else may have led to the same template since.
func (r *Reconciler) remember(ctx context.Context, observed state.Observed) error {
	set := observed.StatefulSet
	name, known := observed.Revision()
	if !known {
		return nil
	}
	revision := &appsv1.ControllerRevision{}
	found, err := r.liveView().find(ctx, client.ObjectKey{Namespace: set.Namespace, Name: name}, revision)
	madeFrom := set.Annotations[dbv1.AnnotationRenderedFrom]
	if err != nil || !found || revision.Annotations[dbv1.AnnotationRenderedFrom] == madeFrom {
		return err
	}
	noted := revision.DeepCopy()
	metav1.SetMetaDataAnnotation(&noted.ObjectMeta, dbv1.AnnotationRenderedFrom, madeFrom)
	return r.Writer.Change(ctx, revision, noted)
}
