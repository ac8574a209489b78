/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Kind is the kind of a DatabaseCompanion.
const Kind = "DatabaseCompanion"

func selector(companion *dbv1.DatabaseCompanion) map[string]string {
	return naming.CompanionSelector(companion.Spec.ClusterRef.Name, companion.Name)
}

// labels are those of every object of a companion.
func labels(companion *dbv1.DatabaseCompanion) map[string]string {
	all := selector(companion)
	all[dbv1.LabelManagedBy] = dbv1.LabelManagedByValue
	return all
}

// owner lets the garbage collector delete the objects with the companion, and not with the cluster.
func owner(companion *dbv1.DatabaseCompanion) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().WithAPIVersion(dbv1.GroupVersion.String()).WithKind(Kind).
		WithName(companion.Name).WithUID(companion.UID).WithController(true).WithBlockOwnerDeletion(true)
}

// deployment runs the pods. A rollout starts a new pod before it stops one, so clients always find as many as spec has.
func deployment(companion *dbv1.DatabaseCompanion, a application, live *appsv1.Deployment) objects.Child {
	inputs := renderedFrom(companion, a)
	return objects.New(appsv1ac.Deployment(companion.Name, companion.Namespace).
		WithLabels(labels(companion)).
		WithOwnerReferences(owner(companion)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxUnavailable(intstr.FromInt32(0)).WithMaxSurge(intstr.FromInt32(1)))).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(companion)))),
		[]string{"spec", "template"}, []string{"spec", "strategy"}, []string{"spec", "paused"}).
		RecordingStoredSpec(companion.Status.Deployment).
		Set(int64(replicas(companion)), "spec", "replicas").
		Set(inputs, "metadata", "annotations", dbv1.AnnotationRenderedFrom).
		Set(template(companion, a, live, inputs), "spec", "template")
}

// template is that of the live Deployment while its inputs are unchanged: a newer operator, which may render another one, restarts no pod.
func template(companion *dbv1.DatabaseCompanion, a application, live *appsv1.Deployment, inputs string) map[string]any {
	if live == nil || live.Annotations[dbv1.AnnotationRenderedFrom] != inputs || !objects.Untouched(companion.Status.Deployment, live) {
		return objects.Fields(podTemplate(companion, a))
	}
	kept := objects.Fields(&live.Spec.Template)
	unstructured.RemoveNestedField(kept, "metadata", "creationTimestamp")
	return kept
}

// renderedFrom is a hash of the inputs of the template. The annotations are those by which a user requests a restart.
func renderedFrom(companion *dbv1.DatabaseCompanion, a application) string {
	return objects.Hash([]any{
		a, companion.UID, companion.Spec.Companion, companion.Spec.Connection.EnvironmentPrefix,
		companion.Annotations[dbv1.AnnotationRestart], companion.Annotations[dbv1.AnnotationUpdate],
	})
}

// replicas is the number of pods. The API server sets the default.
func replicas(companion *dbv1.DatabaseCompanion) int32 {
	if companion.Spec.Replicas == nil {
		return 2
	}
	return *companion.Spec.Replicas
}

// service is where clients connect to the port of the pods.
func service(companion *dbv1.DatabaseCompanion, port int32) objects.Child {
	given := companion.Spec.Service
	return objects.New(corev1ac.Service(companion.Name, companion.Namespace).
		WithLabels(labels(companion)).
		WithAnnotations(given.Annotations).
		WithOwnerReferences(owner(companion)).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(selector(companion)).
			WithType(cmp.Or(given.Type, corev1.ServiceTypeClusterIP)).
			WithPublishNotReadyAddresses(false).
			WithInternalTrafficPolicy(corev1.ServiceInternalTrafficPolicyCluster).
			WithSessionAffinity(corev1.ServiceAffinityNone).
			WithPorts(corev1ac.ServicePort().
				WithName(naming.CompanionPort).
				WithPort(cmp.Or(given.Port, port)).
				WithProtocol(corev1.ProtocolTCP).
				WithTargetPort(intstr.FromString(naming.CompanionPort)))),
		[]string{"spec", "selector"}, []string{"spec", "ports"}, []string{"spec", "type"}, []string{"spec", "externalName"})
}

// budget lets a drain evict one pod at a time.
func budget(companion *dbv1.DatabaseCompanion) objects.Child {
	return objects.New(policyv1ac.PodDisruptionBudget(companion.Name, companion.Namespace).
		WithLabels(labels(companion)).
		WithOwnerReferences(owner(companion)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(companion)))), []string{"spec"})
}
