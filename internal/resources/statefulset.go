/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// StatefulSet runs the members. Its pods start in parallel: in order, one pod that cannot start would block the
// others. Only the operator restarts them (OnDelete): with rolling updates, such a pod would never get a corrected
// template (kubernetes/kubernetes#67250). The volumes outlive the StatefulSet.
//
// Only the operator may write its template: changes by others would be rolled out to the members.
//
// Replicas is an argument because the operator adds and removes members one by one. The claim template of the
// observed StatefulSet is repeated, because it is immutable.
func StatefulSet(cluster *dbv1.DatabaseCluster, replicas int32, observed state.Observed) objects.Child {
	return StatefulSetFrom(0, cluster, replicas, observed)
}

// StatefulSetFrom is the StatefulSet whose first member has an ordinal.
func StatefulSetFrom(start int32, cluster *dbv1.DatabaseCluster, replicas int32, observed state.Observed) objects.Child {
	child := withoutTemplate(start, cluster, replicas, observed).Set(template(cluster, observed), "spec", "template")
	if templates := claimTemplates(cluster, observed.StatefulSet); len(templates) > 0 {
		child.Set(templates, "spec", "volumeClaimTemplates")
	}
	return child
}

// Stands reports whether the observed StatefulSet is as desired, without rendering its templates: an untouched StatefulSet has those that
// the operator wrote, and an annotation shows from which inputs.
func Stands(start int32, cluster *dbv1.DatabaseCluster, replicas int32, observed state.Observed) bool {
	set := observed.StatefulSet
	return set != nil && objects.Untouched(cluster.Status.StatefulSet, set) &&
		withoutTemplate(start, cluster, replicas, observed).Drift(set) == ""
}

func withoutTemplate(start int32, cluster *dbv1.DatabaseCluster, replicas int32, observed state.Observed) objects.Child {
	child := objects.New(appsv1ac.StatefulSet(naming.StatefulSet(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithAnnotations(generatedServiceAccount(cluster, observed)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithServiceName(naming.HeadlessService(cluster.Name)).
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
			WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
				WithWhenDeleted(appsv1.RetainPersistentVolumeClaimRetentionPolicyType).
				WithWhenScaled(appsv1.RetainPersistentVolumeClaimRetentionPolicyType)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(naming.Selector(cluster.Name)))),
		[]string{"spec", "template"}, []string{"spec", "ordinals"}, []string{"spec", "replicas"}, []string{"spec", "minReadySeconds"}).
		Set(int64(replicas), "spec", "replicas").
		Set(renderedFrom(cluster, observed.References), "metadata", "annotations", dbv1.AnnotationRenderedFrom)
	child = child.RecordingStoredSpec(cluster.Status.StatefulSet)
	if live := observed.StatefulSet; start > 0 || live != nil && live.Spec.Ordinals != nil {
		child.Set(int64(start), "spec", "ordinals", "start")
	}
	return child
}

// generatedServiceAccount records the ServiceAccount that the operator created, until it is deleted. Without the record,
// each pass would have to look for one.
func generatedServiceAccount(cluster *dbv1.DatabaseCluster, observed state.Observed) map[string]string {
	if !pods.GeneratesServiceAccount(cluster) && observed.ServiceAccount == nil {
		return nil
	}
	return map[string]string{dbv1.AnnotationServiceAccount: naming.ServiceAccount(cluster.Name)}
}

func claimTemplates(cluster *dbv1.DatabaseCluster, live *appsv1.StatefulSet) []any {
	if live != nil {
		return liveClaimTemplates(live)
	}
	if pods.Ephemeral(cluster) {
		return nil
	}
	template := dataClaim(cluster, naming.ClaimTemplate(cluster))
	template.Namespace = nil // a template has no namespace
	return []any{objects.Fields(template)}
}

// dataClaim is the claim of a member's data volume.
func dataClaim(cluster *dbv1.DatabaseCluster, name string) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: cluster.Spec.Storage.Size}))
	if class := cluster.Spec.Storage.StorageClassName; class != nil {
		spec.WithStorageClassName(*class)
	}
	if class := cluster.Spec.Storage.VolumeAttributesClassName; class != "" {
		spec.WithVolumeAttributesClassName(class)
	}
	return corev1ac.PersistentVolumeClaim(name, cluster.Namespace).WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).WithSpec(spec).
		WithAnnotations(state.Contents{Engine: cluster.Spec.Engine}.Annotations())
}

// ClaimTemplate is the spec of the claims that the StatefulSet creates; nil if it creates none.
func ClaimTemplate(set *appsv1.StatefulSet) *corev1.PersistentVolumeClaimSpec {
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	return &set.Spec.VolumeClaimTemplates[0].Spec
}

func liveClaimTemplates(live *appsv1.StatefulSet) []any {
	templates := make([]any, 0, len(live.Spec.VolumeClaimTemplates))
	for i := range live.Spec.VolumeClaimTemplates {
		template := objects.Fields(&live.Spec.VolumeClaimTemplates[i])
		delete(template, "status")
		templates = append(templates, template)
	}
	return templates
}
