/*
SPDX-License-Identifier: Apache-2.0
*/

package companion

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/companion/plan"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasecompanions;databaseclusters;databaseusers,verbs=get;list;watch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=get,roleName=manager-cluster-role
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups="",resources=services;pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch

// Observe reads the facts about a DatabaseCompanion.
func (r *Reconciler) Observe(ctx context.Context, companion *dbv1.DatabaseCompanion, from kit.Reading) (plan.CompanionFacts, error) {
	seen := plan.CompanionFacts{At: r.Clock.Now(), Period: r.ReferencePeriod}
	if companion.DeletionTimestamp != nil {
		return seen, nil
	}
	cluster := &dbv1.DatabaseCluster{}
	if from.Find(ctx, companion.Spec.ClusterRef.Name, cluster) {
		seen.Engine = named.Engine(ctx, &from, cluster.Spec.Engine)
		seen.Cluster = engine.Resolve(named.ClusterFacts(cluster), seen.Engine)
		seen.Binding = binding(ctx, &from, companion, cluster, &seen)
		certificates(ctx, &from, companion, &seen)
		seen.CredentialKeys = credentialKeys(ctx, &from, companion, &seen)
	}
	children(ctx, &from, companion, &seen)
	return seen, from.Err
}

// children reads the objects of the companion.
func children(ctx context.Context, from *kit.Reading, companion *dbv1.DatabaseCompanion, seen *plan.CompanionFacts) {
	seen.Deployment = child(ctx, from, seen, "Deployment", plan.DeploymentFacts)
	seen.Service = child(ctx, from, seen, "Service", state.ServiceFacts)
	seen.Budget = child(ctx, from, seen, "PodDisruptionBudget", state.PodDisruptionBudgetFacts)
	seen.Policy = child(ctx, from, seen, "NetworkPolicy", state.NetworkPolicyFacts)
	list := &corev1.PodList{}
	labels := naming.CompanionSelector(companion.Spec.ClusterRef.Name, companion.Name)
	labels[dbv1.LabelCompanionUID] = string(companion.UID)
	from.List(ctx, list, subject.IndexCluster, companion.Spec.ClusterRef.Name, client.MatchingLabels(labels))
	for i := range list.Items {
		seen.Pods = append(seen.Pods, podFacts(&list.Items[i]))
	}
	slices.SortFunc(seen.Pods, func(a, b state.Member) int { return cmp.Compare(a.Name, b.Name) })
	budgets := &policyv1.PodDisruptionBudgetList{}
	from.List(ctx, budgets, subject.IndexOthers, "true")
	seen.OtherBudgets = subject.OthersThatSelect(budgets.Items, seen.Pods, func(name string) bool { return name == companion.Name })
}

// child reads an object with the name of the companion; nil if it does not exist, or belongs to another owner.
func child[T any, Object interface {
	*T
	client.Object
}](ctx context.Context, from *kit.Reading, seen *plan.CompanionFacts, kind string, facts func(Object) Object) Object {
	object := Object(new(T))
	switch {
	case !from.Find(ctx, from.Object.GetName(), object):
		return nil
	case !metav1.IsControlledBy(object, from.Object):
		seen.Foreign = append(seen.Foreign, kind)
		return nil
	}
	return facts(object)
}

// podFacts are the fields of a pod that are read.
func podFacts(pod *corev1.Pod) state.Member {
	m := state.MemberOf(pod, 0).Facts()
	m.Remedy = pods.Remedy(pod, pods.Source{Kind: "DatabaseCompanion", Resources: state.ResourcesField})
	return m
}

// binding reads the connection Secret of an application, if the cluster or the user reports that it is there.
func binding(ctx context.Context, from *kit.Reading, companion *dbv1.DatabaseCompanion, cluster *dbv1.DatabaseCluster,
	seen *plan.CompanionFacts) plan.Binding {
	connection, name := companion.Spec.Connection, ""
	switch {
	case companion.Spec.Companion != "" || connection.Form == dbv1.ConnectionNone:
		return plan.Binding{}
	case connection.UserRef != nil:
		user := &dbv1.DatabaseUser{}
		if !from.Find(ctx, connection.UserRef.Name, user) {
			return plan.Binding{}
		}
		seen.User = user
		if user.Status.Binding != nil {
			name = user.Status.Binding.Name
		}
	case cluster.Status.Binding != nil:
		name = cluster.Status.Binding.Name
	}
	secret := &corev1.Secret{}
	if name == "" || !from.FindLive(ctx, name, secret) {
		return plan.Binding{}
	}
	return plan.Binding{Name: name, Keys: slices.Sorted(maps.Keys(secret.Data)), Content: pods.SecretContent(secret)[:16]}
}

// credentialKeys reads the keys of the credentials of the cluster for a companion of its engine. The values stay there.
func credentialKeys(ctx context.Context, from *kit.Reading, companion *dbv1.DatabaseCompanion, seen *plan.CompanionFacts) []string {
	c, name := engine.Companion(seen.Engine, companion.Spec.Companion), seen.Cluster.Spec.Credentials.SecretName
	secret := &corev1.Secret{}
	if c == nil || len(c.SecretKeys) == 0 || name == "" || !from.FindLive(ctx, name, secret) {
		return nil
	}
	return slices.Sorted(maps.Keys(secret.Data))
}

// certificates reads the certificate of the companion, and the public facts of the CA of the cluster. Its key is read again when a
// certificate is issued.
func certificates(ctx context.Context, from *kit.Reading, companion *dbv1.DatabaseCompanion, seen *plan.CompanionFacts) {
	if !plan.ServesTLS(companion, seen.Cluster) {
		return
	}
	secret := &corev1.Secret{}
	if from.FindLive(ctx, naming.CompanionCertificate(companion.Name), secret) {
		if metav1.IsControlledBy(secret, companion) {
			seen.Certificate = state.CertificateOf(secret, pki.Judge(secret.Data, plan.Hosts(companion), seen.At))
		} else {
			seen.Foreign = append(seen.Foreign, "Secret")
		}
	}
	authority := &corev1.Secret{}
	if from.FindLive(ctx, naming.Authority(seen.Cluster.Name), authority) &&
		authority.Labels[dbv1.LabelClusterUID] == string(seen.Cluster.UID) {
		seen.Authority = state.CertificateOf(authority, pki.AuthorityFacts(authority.Data))
	}
}
