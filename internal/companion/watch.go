/*
SPDX-License-Identifier: Apache-2.0
*/

package companion

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/companion/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Controller declares the changes that start a pass for a DatabaseCompanion.
func (r *Reconciler) Controller() kit.Controller {
	return kit.Controller{
		Name: "databasecompanion", For: &dbv1.DatabaseCompanion{}, When: kit.Changed(companionFacts),
		Watches: []kit.Watch{
			{Object: &appsv1.Deployment{}, When: kit.Filter(plan.DeploymentFacts)},
			{Object: &corev1.Service{}, When: kit.Filter(state.ServiceFacts), Delay: subject.RepairDelay},
			{Object: &policyv1.PodDisruptionBudget{}, When: kit.Filter(state.PodDisruptionBudgetFacts), Delay: subject.RepairDelay},
			{Object: &policyv1.PodDisruptionBudget{}, When: kit.Filter(state.PodDisruptionBudgetFacts), MapFunc: r.besideBudget,
				Delay: subject.RepairDelay},
			{Object: &networkingv1.NetworkPolicy{}, When: kit.Filter(state.NetworkPolicyFacts), Delay: subject.RepairDelay},
			{Object: &corev1.Pod{}, When: kit.Changed(watchedPod), MapFunc: ofPod},
			{Object: &dbv1.DatabaseCluster{}, When: kit.Changed(clusterFacts), MapFunc: r.ofCluster},
			{Object: &dbv1.DatabaseUser{}, When: kit.Changed(userFacts), MapFunc: r.ofUser},
		},
	}
}

func companionFacts(o *dbv1.DatabaseCompanion) any {
	return []any{
		o.Spec, o.Status, o.DeletionTimestamp, o.Annotations[dbv1.AnnotationRestart], o.Annotations[dbv1.AnnotationUpdate],
		o.Annotations[dbv1.AnnotationRefresh],
	}
}

// clusterFacts change with everything of which pods are rendered, and when the operator has written the connection Secret.
func clusterFacts(o *dbv1.DatabaseCluster) any {
	return []any{
		o.UID, o.Spec.Engine, o.Spec.Container.Port, o.Spec.Bootstrap, o.Spec.TLS, o.Spec.Credentials.SecretName, o.Spec.NetworkPolicy,
		o.DeletionTimestamp, o.Annotations[dbv1.AnnotationRefresh], o.Status.Binding, o.Status.Credentials, o.Status.TLS,
	}
}

func userFacts(o *dbv1.DatabaseUser) any {
	return []any{o.Spec.ClusterRef, o.Status.Binding, o.Status.PasswordVersion, o.Status.Certificate, o.DeletionTimestamp}
}

func watchedPod(pod *corev1.Pod) any { return podFacts(pod) }

// ofPod is the companion of a pod.
func ofPod(_ context.Context, pod client.Object) []reconcile.Request {
	labels := pod.GetLabels()
	if labels[dbv1.LabelCompanionUID] == "" || labels[dbv1.LabelCompanion] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: pod.GetNamespace(), Name: labels[dbv1.LabelCompanion]}}}
}

// ofCluster are the companions of a cluster.
func (r *Reconciler) ofCluster(ctx context.Context, cluster client.Object) []reconcile.Request {
	return r.requests(ctx, cluster, func(c *dbv1.DatabaseCompanion) bool { return c.Spec.ClusterRef.Name == cluster.GetName() })
}

// ofUser are the companions that connect as a user.
func (r *Reconciler) ofUser(ctx context.Context, user client.Object) []reconcile.Request {
	return r.requests(ctx, user, func(c *dbv1.DatabaseCompanion) bool {
		ref := c.Spec.Connection.UserRef
		return ref != nil && ref.Name == user.GetName()
	})
}

// besideBudget are the companions whose pods a PodDisruptionBudget of others may select.
func (r *Reconciler) besideBudget(ctx context.Context, budget client.Object) []reconcile.Request {
	if len(subject.OfOthers(budget)) == 0 {
		return nil
	}
	return r.requests(ctx, budget, func(*dbv1.DatabaseCompanion) bool { return true })
}

func (r *Reconciler) requests(ctx context.Context, changed client.Object, selects func(*dbv1.DatabaseCompanion) bool) []reconcile.Request {
	return r.Requests(ctx, changed, &dbv1.DatabaseCompanionList{}, func(o client.Object) bool {
		c, is := o.(*dbv1.DatabaseCompanion)
		return is && selects(c)
	})
}
