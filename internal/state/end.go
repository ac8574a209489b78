/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// End is the end of the database in a pod that was deleted.
type End struct {
	// Reached is true if all containers of the pod have terminated.
	Reached bool
	// Never is true if the database never started.
	Never bool
	// Known is true if the kubelet has reported the exit code of the database.
	Known bool
	Code  int32
}

// endOf returns the end of a pod's database. The kubelet brings every deleted pod to a final phase before it removes the object;
// only a pod without a node has no kubelet.
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

// hasStarted reports whether the database of a pod has started at least once. For a container that it never created, the kubelet
// reports the exit code of a killed one.
func hasStarted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		terminated := s.State.Terminated
		return s.Name == naming.Container &&
			(s.ContainerID != "" || s.LastTerminationState.Terminated != nil || terminated != nil && terminated.ContainerID != "")
	})
}

// outOfMemory reports whether the kernel ended the database of a pod at its memory limit, the last time that it ended.
func outOfMemory(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		last := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated)
		return s.Name == naming.Container && last != nil && last.Reason == "OOMKilled"
	})
}

func atEnd(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// HasFinalizer reports whether an object has the operator's finalizer.
func HasFinalizer(object metav1.Object) bool {
	return slices.Contains(object.GetFinalizers(), dbv1.Finalizer)
}

// Bystander is a pod that has the cluster's labels but is not a member: the pod of a Job, or a pod of a previous cluster of the
// same name.
type Bystander struct {
	Name string
	UID  types.UID
	// Cluster is the UID of the cluster that the pod was created for.
	Cluster types.UID
	// Job is the UID of the Job that created it; "" for none.
	Job types.UID
	// Component is the pod's role in that cluster.
	Component string
	// Orphan is true if it has a member's name and no controller, and is not terminating. A StatefulSet of that name adopts it and
	// does not create another one.
	Orphan bool
	// Ended is true if all containers of the pod have terminated.
	Ended bool
	// Mounts is true if the pod uses the claim of a member's volume: Kubernetes keeps the claim while the pod exists.
	Mounts bool
	// HasFinalizer is true if the pod has the operator's finalizer.
	HasFinalizer bool
	// Version is the pod's resourceVersion, for the precondition of its deletion. No decision uses it.
	Version string
}

// Facts returns the pod without fields that no decision uses.
func (b Bystander) Facts() Bystander {
	b.Version = ""
	return b
}

// BystanderOf returns the Bystander of a pod.
func BystanderOf(pod *corev1.Pod) Bystander {
	return Bystander{
		Name: pod.Name, UID: pod.UID, Version: pod.ResourceVersion,
		Cluster:      types.UID(pod.Labels[dbv1.LabelClusterUID]),
		Job:          types.UID(pod.Labels[batchv1.ControllerUidLabel]),
		Component:    pod.Labels[dbv1.LabelComponent],
		Orphan:       orphan(pod),
		Ended:        atEnd(pod),
		Mounts:       MountsMember(pod.Spec.Volumes, pod.Labels[dbv1.LabelInstance]),
		HasFinalizer: HasFinalizer(pod),
	}
}

// MountsMember reports whether one of these volumes belongs to a member of the cluster.
func MountsMember(volumes []corev1.Volume, cluster string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil {
			return false
		}
		_, _, ofMember := naming.TemplateOf(cluster, v.PersistentVolumeClaim.ClaimName)
		return ofMember
	})
}

func orphan(pod *corev1.Pod) bool {
	_, member := naming.Ordinal(pod.Labels[dbv1.LabelInstance], pod.Name)
	return member && metav1.GetControllerOfNoCopy(pod) == nil && pod.DeletionTimestamp == nil
}
