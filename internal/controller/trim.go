/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// longestStatus is the longest status of a member that the cache keeps, in bytes. A position needs about 200, but members
// also report other things.
const longestStatus = 2048

// TrimPod reduces a cached pod to the fields that state.MemberOf, state.AttemptOf, state.Lags and state.Fresh read: a tenth of its size.
// Never write such a pod back.
func TrimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{
		ObjectMeta: withAnnotations(pod.ObjectMeta, podAnnotations(pod)...),
		Spec: corev1.PodSpec{
			NodeName: pod.Spec.NodeName, Containers: trimSpecs(pod.Spec.Containers), Volumes: trimVolumes(pod.Spec.Volumes),
		},
		Status: corev1.PodStatus{
			ObservedGeneration:    pod.Status.ObservedGeneration,
			HostIP:                pod.Status.HostIP,
			Phase:                 pod.Status.Phase,
			Reason:                pod.Status.Reason,
			StartTime:             pod.Status.StartTime,
			Conditions:            trimConditions(pod.Status.Conditions),
			InitContainerStatuses: trimContainers(pod.Status.InitContainerStatuses),
			ContainerStatuses:     trimContainers(pod.Status.ContainerStatuses),
		},
	}
	if state.HasFinalizer(pod) {
		trimmed.Finalizers = []string{dbv1.Finalizer}
	}
	return trimmed, nil
}

// podAnnotations are the annotations that the cache keeps of a pod. Only members of an engine with roles have a status.
func podAnnotations(pod *corev1.Pod) []string {
	keys := []string{dbv1.AnnotationTemplate, dbv1.AnnotationEngine, dbv1.AnnotationReferences, dbv1.AnnotationResizeRefused}
	if pod.Annotations[dbv1.AnnotationRoleLabel] != "" && len(pod.Annotations[dbv1.AnnotationStatus]) <= longestStatus {
		keys = append(keys, dbv1.AnnotationStatus)
	}
	return keys
}

// TrimClaim reduces a cached claim to the fields that state.VolumeOf reads. Never write such a claim back.
func TrimClaim(object any) (any, error) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return object, nil
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: withAnnotations(claim.ObjectMeta, state.ContentsAnnotations...),
		Spec: corev1.PersistentVolumeClaimSpec{
			Resources: claim.Spec.Resources, VolumeAttributesClassName: claim.Spec.VolumeAttributesClassName,
			StorageClassName: claim.Spec.StorageClassName,
			DataSource:       claim.Spec.DataSource, DataSourceRef: claim.Spec.DataSourceRef,
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Capacity:                  claim.Status.Capacity,
			AllocatedResourceStatuses: claim.Status.AllocatedResourceStatuses,

			CurrentVolumeAttributesClassName: claim.Status.CurrentVolumeAttributesClassName,
			ModifyVolumeStatus:               claim.Status.ModifyVolumeStatus,
			Conditions:                       claim.Status.Conditions,
		},
	}, nil
}

// TrimNode reduces a cached node to the fields that state.Leaving reads.
func TrimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	metadata := metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion}
	return &corev1.Node{ObjectMeta: metadata, Spec: corev1.NodeSpec{Unschedulable: node.Spec.Unschedulable, Taints: node.Spec.Taints}}, nil
}

// trimMetadata leaves out annotations, finalizers and managed fields.
func trimMetadata(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		Labels: m.Labels, OwnerReferences: m.OwnerReferences,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

// withAnnotations also keeps those annotations.
func withAnnotations(m metav1.ObjectMeta, keys ...string) metav1.ObjectMeta {
	trimmed := trimMetadata(m)
	for _, key := range keys {
		if value, found := m.Annotations[key]; found {
			metav1.SetMetaDataAnnotation(&trimmed, key, value)
		}
	}
	return trimmed
}

// trimVolumes keeps only the volumes with claims, and the name of the Secret with the certificate.
func trimVolumes(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, v := range volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			kept = append(kept, corev1.Volume{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: v.PersistentVolumeClaim}})
		case v.Name == naming.TLSVolume && v.Secret != nil:
			secret := &corev1.SecretVolumeSource{SecretName: v.Secret.SecretName}
			kept = append(kept, corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{Secret: secret}})
		}
	}
	return kept
}

func trimSpecs(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, 0, len(containers))
	for _, c := range containers {
		kept = append(kept, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, ReadinessProbe: trimProbe(c.ReadinessProbe)})
	}
	return kept
}

// trimProbe keeps how long a probe takes to fail.
func trimProbe(p *corev1.Probe) *corev1.Probe {
	if p == nil {
		return nil
	}
	return &corev1.Probe{PeriodSeconds: p.PeriodSeconds, TimeoutSeconds: p.TimeoutSeconds, FailureThreshold: p.FailureThreshold}
}

var readConditions = map[corev1.PodConditionType]bool{
	corev1.PodReady: true, corev1.PodScheduled: true, corev1.PodResizePending: true, corev1.PodResizeInProgress: true,
	corev1.DisruptionTarget: true,
}

func trimConditions(conditions []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range conditions {
		if readConditions[c.Type] {
			kept = append(kept, corev1.PodCondition{
				Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
			})
		}
	}
	return kept
}

func trimContainers(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := make([]corev1.ContainerStatus, 0, len(statuses))
	for _, s := range statuses {
		kept = append(kept, corev1.ContainerStatus{
			Name: s.Name, ContainerID: s.ContainerID, State: s.State, LastTerminationState: s.LastTerminationState, Resources: s.Resources,
		})
	}
	return kept
}
