/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The facts of an object are exactly the fields that the operator uses. Observed contains facts, and a watch accepts an update only
// if the facts changed. So no field that the operator uses changes without an event.

// ServiceFacts are the facts of a Service.
func ServiceFacts(service *corev1.Service) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: MetadataFacts(service.ObjectMeta), Spec: service.Spec,
		Status: corev1.ServiceStatus{LoadBalancer: service.Status.LoadBalancer},
	}
}

// PodDisruptionBudgetFacts are the facts of a PodDisruptionBudget.
func PodDisruptionBudgetFacts(budget *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: MetadataFacts(budget.ObjectMeta), Spec: budget.Spec}
}

// IsServiceAccountOf reports whether the operator created a ServiceAccount for a cluster of this name, and it is not
// terminating. It has no owner, so its labels show who created it.
func IsServiceAccountOf(cluster string, account *corev1.ServiceAccount) bool {
	return account.DeletionTimestamp == nil && account.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue &&
		account.Labels[dbv1.LabelInstance] == cluster
}

// ServiceAccountFacts are the facts of a ServiceAccount.
func ServiceAccountFacts(account *corev1.ServiceAccount) *corev1.ServiceAccount {
	facts := &corev1.ServiceAccount{
		ObjectMeta: MetadataFacts(account.ObjectMeta), AutomountServiceAccountToken: account.AutomountServiceAccountToken,
	}
	facts.CreationTimestamp = account.CreationTimestamp
	return facts
}

// NetworkPolicyFacts are the facts of a NetworkPolicy.
func NetworkPolicyFacts(policy *networkingv1.NetworkPolicy) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: MetadataFacts(policy.ObjectMeta), Spec: policy.Spec}
}

// StatefulSetFacts are the facts of a StatefulSet, with its template: each pass compares that in memory. How many members are ready is read
// from the pods, so there is no lag between two sources.
func StatefulSetFacts(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: MetadataFacts(set.ObjectMeta),
		Spec:       set.Spec,
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: set.Status.ObservedGeneration,
			UpdateRevision:     set.Status.UpdateRevision,
		},
	}
}

// ClusterFacts are the facts of a DatabaseCluster. They include the status: if another client changes it, or a stale cache shows an
// old one, the operator compares it with the observed state.
func ClusterFacts(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	facts := &dbv1.DatabaseCluster{ObjectMeta: MetadataFacts(cluster.ObjectMeta), Spec: cluster.Spec, Status: cluster.Status}
	facts.Labels, facts.OwnerReferences = nil, nil
	facts.Annotations = map[string]string{}
	for _, asked := range []string{dbv1.AnnotationSkipDeletionHooks, dbv1.AnnotationUpdate, dbv1.AnnotationRestart, dbv1.AnnotationRefresh,
		dbv1.AnnotationRotateCredentials, dbv1.AnnotationRenewCertificate, dbv1.AnnotationHandOver, dbv1.AnnotationRebuild} {
		if value, found := cluster.Annotations[asked]; found {
			facts.Annotations[asked] = value
		}
	}
	return facts
}

// ConfigMapFacts are the facts of a ConfigMap with the files of spec.config.
func ConfigMapFacts(config *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: MetadataFacts(config.ObjectMeta), Data: config.Data, Immutable: config.Immutable}
}

// MetadataFacts are those of any object. They retain the resourceVersion for preconditions; it is no fact.
func MetadataFacts(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		Labels: m.Labels, Annotations: m.Annotations, OwnerReferences: m.OwnerReferences,
		Finalizers: m.Finalizers, DeletionTimestamp: m.DeletionTimestamp,
	}
}

// FromRevision restores a previous StatefulSet from its ControllerRevision. The StatefulSet controller records the template in the
// revision's data and the annotations on the revision.
func FromRevision(revision *appsv1.ControllerRevision) (*appsv1.StatefulSet, error) {
	set := &appsv1.StatefulSet{}
	if err := json.Unmarshal(revision.Data.Raw, set); err != nil {
		return nil, fmt.Errorf("read ControllerRevision %s: %w", revision.Name, err)
	}
	set.Annotations = revision.Annotations
	return set, nil
}

// HadRights reports whether the operator created rights for the members. They are deleted before the ServiceAccount.
func HadRights(account *corev1.ServiceAccount) bool {
	return account != nil && account.Annotations[dbv1.AnnotationRights] != ""
}
