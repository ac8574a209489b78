/*
SPDX-License-Identifier: Apache-2.0
*/

package autoresize

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=autoscaling.k8s.io,resources=verticalpodautoscalers,verbs=get

// read reads the VerticalPodAutoscaler that the spec names. Only then the operator needs its kind and the right. It does not watch it,
// because a watch of a kind that does not exist would stop the operator.
func read(ctx context.Context, r *subject.ClusterReading) {
	asked := r.Cluster.Spec.AutoResize
	if r.Err != nil || r.Cluster.DeletionTimestamp != nil || asked == nil {
		return
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(naming.AutoscalerKind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: r.Cluster.Namespace, Name: asked.AutoscalerRef.Name}, live)
	missing := func(format string, values ...any) Facts {
		return Facts{Reason: dbv1.ReasonAutoscalerMissing, Problem: fmt.Sprintf(format, values...)}
	}
	var seen Facts
	switch {
	case kit.NoKind(err):
		seen = missing("the API server does not know the kind %s of group %s. Install the Vertical Pod Autoscaler, or remove "+
			"spec.autoResize", naming.AutoscalerKind.Kind, naming.AutoscalerKind.Group)
	case apierrors.IsForbidden(err):
		seen = missing("the operator may not get objects of the kind %s of group %s. Grant it that permission, or remove spec.autoResize",
			naming.AutoscalerKind.Kind, naming.AutoscalerKind.Group)
	case apierrors.IsNotFound(err):
		seen = missing("VerticalPodAutoscaler %s does not exist. Create it, or correct spec.autoResize.autoscalerRef.name",
			asked.AutoscalerRef.Name)
	case err != nil:
		seen.Unread = err.Error() // the members need the rest of the pass more than a recommendation
	default:
		seen = Of(r.Cluster, live)
	}
	state.Put(&r.Observed, seen)
}
