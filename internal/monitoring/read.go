/*
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors;prometheusrules,verbs=get

// Facts are the objects of the Prometheus Operator for a cluster.
type Facts struct {
	Monitor, Rule Found
	// Unread is why a read failed, so that nothing is known; "" if none did. No member waits for these objects, so the pass continues.
	Unread string
	// Refused is why the operator cannot use the Prometheus Operator; "" if it can.
	Refused string
}

// Found is one of these objects.
type Found struct {
	// Live is the object of the cluster; nil if it does not exist.
	Live *unstructured.Unstructured
	// Foreign is true if the object has another owner.
	Foreign bool
}

// read reads the objects if the spec asks for them, or has asked. Only then the operator needs their CRDs and the rights. It reads them
// one by one, because a watch of a kind that does not exist would stop the operator.
func read(ctx context.Context, r *subject.ClusterReading) {
	before := meta.FindStatusCondition(r.Cluster.Status.Conditions, dbv1.ConditionMonitoringConfigured) != nil
	if r.Err != nil || r.Cluster.DeletionTimestamp != nil || !scraped(r.Cluster) && !before {
		return
	}
	var seen Facts
	seen.Monitor = find(ctx, r, &seen, naming.PodMonitorKind)
	if seen.Refused == "" && seen.Unread == "" {
		seen.Rule = find(ctx, r, &seen, naming.PrometheusRuleKind)
	}
	if !scraped(r.Cluster) {
		seen.Refused = "" // the spec needs no Prometheus Operator
	}
	state.Put(&r.Observed, seen)
}

func find(ctx context.Context, r *subject.ClusterReading, seen *Facts, kind schema.GroupVersionKind) Found {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(kind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: r.Cluster.Namespace, Name: naming.Monitoring(r.Cluster.Name)}, live)
	switch {
	case kit.NoKind(err):
		seen.Refused = fmt.Sprintf("the API server does not know the kind %s of group %s. Install the Prometheus Operator, or set "+
			"spec.monitoring.mode to Metrics", kind.Kind, kind.Group)
	case apierrors.IsForbidden(err):
		seen.Refused = fmt.Sprintf("the operator may not get objects of the kind %s of group %s. Grant it that permission, or set "+
			"spec.monitoring.mode to Metrics", kind.Kind, kind.Group)
	case apierrors.IsNotFound(err):
	case err != nil:
		seen.Unread = err.Error()
	case !metav1.IsControlledBy(live, r.Cluster):
		return Found{Foreign: true}
	default:
		live.SetManagedFields(nil)
		return Found{Live: live}
	}
	return Found{}
}
