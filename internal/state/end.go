/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// End is how the database of a pod that was deleted ended.
type End struct {
	// Reached tells that nothing of the pod runs any more.
	Reached bool
	// Never tells that the database had never been started.
	Never bool
	// Known tells that the kubelet has said with which code the database ended.
	Known bool
	Code  int32
}

// endOf reads how the database of a pod ended. The kubelet brings every pod that is deleted to a last phase before
// it lets the object go; only a pod that has no node has no kubelet.
func endOf(pod *corev1.Pod) End {
	if pod.DeletionTimestamp == nil || !atEnd(pod) && pod.Spec.NodeName != "" {
		return End{}
	}
	end := End{Reached: true, Never: !hasStarted(pod)}
	for _, s := range pod.Status.ContainerStatuses {
		if terminated := s.State.Terminated; s.Name == naming.Container && terminated != nil && !end.Never {
			end.Known, end.Code = true, terminated.ExitCode
		}
	}
	return end
}

// hasStarted tells whether the database of a pod has been started at least once. The kubelet gives a container that it
// has never made the code of one that was killed.
func hasStarted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		terminated := s.State.Terminated
		return s.Name == naming.Container && (s.ContainerID != "" || s.LastTerminationState.Terminated != nil || terminated != nil && terminated.ContainerID != "")
	})
}

func atEnd(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Holds tells whether an object bears the operator's finalizer.
func Holds(object metav1.Object) bool { return slices.Contains(object.GetFinalizers(), dbv1.Finalizer) }

// Bystander is a pod that bears the cluster's name and is no member of it: that of a Job, or one of an earlier
// cluster of the same name.
type Bystander struct {
	Name string
	UID  types.UID
	// Cluster is the UID of the cluster that the pod was made for.
	Cluster types.UID
	// Job is the UID of the Job that made it; "" for none.
	Job types.UID
	// Component is what the pod is to that cluster.
	Component string
	// Orphan tells that it has a member's name and no controller, and is not being deleted: a StatefulSet of that name takes
	// it over, and makes no other beside it.
	Orphan bool
	// Ended tells that nothing of the pod runs any more.
	Ended bool
	// Mounts is true where the pod has the claim of a member's volume: Kubernetes keeps the claim while the pod exists.
	Mounts bool
	// HasFinalizer tells that the pod bears the operator's finalizer.
	HasFinalizer bool
	// Version is the pod's resourceVersion, for the precondition of its deletion. No decision reads it.
	Version string
}

// Facts is the pod without what no decision reads.
func (b Bystander) Facts() Bystander {
	b.Version = ""
	return b
}

// BystanderOf reads a Bystander from its pod.
func BystanderOf(pod *corev1.Pod) Bystander {
	return Bystander{
		Name: pod.Name, UID: pod.UID, Version: pod.ResourceVersion,
		Cluster:      types.UID(pod.Labels[dbv1.LabelClusterUID]),
		Job:          types.UID(pod.Labels[batchv1.ControllerUidLabel]),
		Component:    pod.Labels[dbv1.LabelComponent],
		Orphan:       orphan(pod),
		Ended:        atEnd(pod),
		Mounts:       MountsMember(pod.Spec.Volumes, pod.Labels[dbv1.LabelInstance]),
		HasFinalizer: Holds(pod),
	}
}

// MountsMember tells whether one of these volumes is that of a member of the cluster.
func MountsMember(volumes []corev1.Volume, cluster string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil {
			return false
		}
		_, ofMember := naming.ClaimOrdinal(cluster, v.PersistentVolumeClaim.ClaimName)
		return ofMember
	})
}

func orphan(pod *corev1.Pod) bool {
	_, member := naming.Ordinal(pod.Labels[dbv1.LabelInstance], pod.Name)
	return member && metav1.GetControllerOfNoCopy(pod) == nil && pod.DeletionTimestamp == nil
}
