/*
SPDX-License-Identifier: Apache-2.0
*/

package companions

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// indexCompanions is the index of the cache for the DatabaseCompanions of a cluster, by its name.
const indexCompanions = "companions-spec-cluster"

var (
	watches = []kit.Watch{{Object: &dbv1.DatabaseCompanion{}, When: kit.Changed(companionFacts), MapFunc: ofCompanion}}
	indexes = []kit.Index{{Kind: &dbv1.DatabaseCompanion{}, Name: indexCompanions, Value: clusterOf}}
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasecompanions,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=delete

func companionFacts(o *dbv1.DatabaseCompanion) any {
	return []any{o.Spec.Companion, o.DeletionTimestamp}
}

func clusterOf(object client.Object) []string {
	companion, is := object.(*dbv1.DatabaseCompanion)
	if !is {
		return nil
	}
	return []string{companion.Spec.ClusterRef.Name}
}

// ofCompanion is the cluster of a companion of its engine.
func ofCompanion(_ context.Context, object client.Object) []reconcile.Request {
	companion, is := object.(*dbv1.DatabaseCompanion)
	if !is || companion.Spec.Companion == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: companion.Namespace, Name: companion.Spec.ClusterRef.Name}}}
}

// read reads the Service only if there is a companion, or from the cache: most clusters have none.
func read(ctx context.Context, o *subject.ClusterReading) {
	facts := Facts{Pausing: pausing(ctx, o)}
	if facts.Pausing {
		o.Companions = subject.Child(ctx, o, state.Ref{
			Kind: "Service", Name: naming.Companions(o.Cluster.Name), Remedy: "delete the DatabaseCompanions whose clients can be paused",
		}, state.ServiceFacts)
	} else {
		o.Companions = leftover(ctx, o)
	}
	state.Put(&o.Observed, facts)
}

// pausing reports whether a companion of the cluster can pause its clients.
func pausing(ctx context.Context, o *subject.ClusterReading) bool {
	list := &dbv1.DatabaseCompanionList{}
	if o.Err != nil || o.Engine == nil {
		return false
	}
	if err := o.Others.List(ctx, list, o.Others.By(o.Cluster.Namespace, indexCompanions, o.Cluster.Name)...); err != nil {
		o.Err = fmt.Errorf("list the companions of cluster %s: %w", o.Cluster.Name, err)
		return false
	}
	for _, declared := range o.Engine.Spec.Companions {
		for i := range list.Items {
			c := &list.Items[i]
			if c.Spec.ClusterRef.Name == o.Cluster.Name && c.Spec.Companion == declared.Name && c.DeletionTimestamp == nil &&
				declared.Pause == dbv1.PauseSupported {
				return true
			}
		}
	}
	return false
}

// leftover is read from the cache only: its deletion has preconditions.
func leftover(ctx context.Context, o *subject.ClusterReading) *corev1.Service {
	found := &corev1.Service{}
	key := client.ObjectKey{Namespace: o.Cluster.Namespace, Name: naming.Companions(o.Cluster.Name)}
	if o.Err != nil {
		return nil
	}
	if err := o.Others.Get(ctx, key, found); client.IgnoreNotFound(err) != nil {
		o.Err = fmt.Errorf("read Service %s: %w", key.Name, err)
	}
	if !metav1.IsControlledBy(found, o.Cluster) {
		return nil
	}
	return state.ServiceFacts(found)
}
