/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Member is the part of a member's pod that decisions use. The watch on pods accepts an event only if this value changes.
type Member struct {
	Name    string
	UID     types.UID
	Owner   types.UID // of the StatefulSet that controls the pod; "" for none
	Ordinal int32
	Created metav1.Time
	// Placed is since when the pod has a node; zero without one. Only then it has a volume.
	Placed   metav1.Time
	Revision string
	// Template is the operator's hash of the pod's template without the resources of the database container. Resources are these.
	Template  string
	Resources string
	// Node is the name of the member's node, and Zone the zone of that node; "" if unknown.
	Node, Zone string
	// Leaves is why pods have to leave that node, after its name, such as "is cordoned"; "" for no reason, or if it is unknown.
	Leaves string
	// NodeAddress is the address of that node, at which its kubelet answers; "" if unknown.
	NodeAddress string
	// Labels are the labels of the pod. The engine defines the one with the role of the member.
	Labels map[string]string
	// Image is the image of the database container.
	Image string
	// Reports is the version of the database that the member has started; "" if unknown.
	Reports string
	// References is the hash of the contents of Secrets and ConfigMaps with which the pod was created.
	References string
	// Certificate is the name of the Secret with the certificate in the pod; "" for none.
	Certificate string
	// Engine is the engine of that template; "" if it had none, or an older operator created it.
	Engine string
	// Started is true if the database container has started at least once.
	Started bool
	// Resize is the progress of an in-place resize. Refused is the revision whose resources the API server refused for the running
	// pod; "" for none.
	Resize  PodResize
	Refused string
	Ready   bool
	// UnreadyAfter is how long a member whose database no longer responds may look ready to the kubelet.
	UnreadyAfter time.Duration
	// ReadySince is when Ready changed last.
	ReadySince  metav1.Time
	Terminating bool
	// StopBy is when a terminating pod has to be deleted: its deletion plus its grace period.
	StopBy metav1.Time
	// End is how the database ended.
	End End
	// OutOfMemory is true if its memory limit ended the database the last time.
	OutOfMemory bool
	// HasFinalizer is true if the pod has the operator's finalizer: the pod is not deleted before the operator has read its exit
	// code.
	HasFinalizer bool
	// Problem is why the pod cannot run, or why it last ended; "" if it is unknown.
	Problem string
	// Probe is what the kubelet reports about a member that is not ready, as the output of its readiness probe; "" if it is unknown.
	Probe string
	// Remedy is the correction that lets the pod start; "" if the problem itself contains it.
	Remedy string
	// Unscheduled is true if the scheduler has found no node. Then that is the problem.
	Unscheduled bool
	// Stuck is true if the pod does not run and will not without a change: it never started, or has crashed repeatedly.
	Stuck bool
	// Version is the pod's resourceVersion, for the precondition of its deletion. No decision uses it.
	Version string
}

// Facts returns the member without fields that no decision uses.
func (m Member) Facts() Member {
	m.Version = ""
	return m
}

// Steadily is how long a member that crashed before has to be ready until that counts: a container without a readiness probe is
// ready for a moment between two crashes.
const Steadily = 10 * time.Second

// Readiness is the name of the member, and since when it is ready. A member that has restarted has another one.
func (m Member) Readiness() string { return m.Name + "=" + m.ReadySince.UTC().Format(time.RFC3339) }

// Mounts reports whether the pod has the claim of its name that was created at a time. A pod that got its node before that has the previous
// claim. One without a node has none yet: Kubernetes deletes its claim although the pod exists, and creates another one.
func (m Member) Mounts(claim metav1.Time) bool {
	return !m.Placed.IsZero() && !claim.After(m.Placed.Time)
}

// Serving reports whether the member is ready and not terminating. A member that crashed before has to stay ready for a while.
func (m Member) Serving(now time.Time) bool {
	return m.Ready && !m.Terminating && (m.Problem == "" || m.Steady(now, Steadily))
}

// Down returns since when a member that does not serve is down. One that is terminating may run until its grace period ends.
func (m Member) Down() time.Time {
	switch {
	case m.Terminating:
		return m.StopBy.Time
	case m.ReadySince.IsZero(): // the kubelet has not reported yet
		return m.Created.Time
	default:
		return m.ReadySince.Time
	}
}

// Steady reports whether the member has been ready for that long. Only then another member may be disturbed.
func (m Member) Steady(now time.Time, after time.Duration) bool {
	return m.Ready && !m.Terminating && m.steadyIn(now, after) <= 0
}

// Broken reports whether the member is known to be unable to run. A terminating member does not count: it will be replaced.
func (m Member) Broken(now time.Time) bool {
	return m.Problem != "" && !m.Terminating && !m.Serving(now)
}

// steadyIn returns the time until the member has been ready for that long.
func (m Member) steadyIn(now time.Time, after time.Duration) time.Duration {
	return m.ReadySince.Add(after).Sub(now)
}

// MemberOf returns the Member of a pod.
func MemberOf(pod *corev1.Pod, ordinal int32) Member {
	m := Member{
		Name:         pod.Name,
		UID:          pod.UID,
		Ordinal:      ordinal,
		Created:      pod.CreationTimestamp,
		Placed:       placed(pod),
		Revision:     pod.Labels[appsv1.StatefulSetRevisionLabel],
		Labels:       pod.Labels,
		Template:     pod.Annotations[dbv1.AnnotationTemplate],
		Engine:       pod.Annotations[dbv1.AnnotationEngine],
		References:   pod.Annotations[dbv1.AnnotationReferences],
		Node:         pod.Spec.NodeName,
		NodeAddress:  pod.Status.HostIP,
		Certificate:  certificateIn(pod.Spec.Volumes),
		Zone:         pod.Labels[corev1.LabelTopologyZone],
		Reports:      versionOf(pod),
		Started:      hasStarted(pod),
		Terminating:  pod.DeletionTimestamp != nil,
		End:          endOf(pod),
		HasFinalizer: HasFinalizer(pod),
		Resize:       resizeOf(pod),
		Refused:      pod.Annotations[dbv1.AnnotationResizeRefused],
		Problem:      pods.Problem(pod),
		Remedy:       pods.Remedy(pod, pods.OfCluster(ResourcesField)),
		Unscheduled:  slices.ContainsFunc(pod.Status.Conditions, pods.Unschedulable),
		Stuck:        pods.Stuck(pod),
		OutOfMemory:  outOfMemory(pod),
		UnreadyAfter: unreadyAfter(databaseContainer(pod.Spec.Containers)),
		Version:      pod.ResourceVersion,
	}
	if database := databaseContainer(pod.Spec.Containers); database != nil {
		m.Resources, m.Image = resourcesText(database.Resources), database.Image
	}
	if m.Terminating {
		m.StopBy = *pod.DeletionTimestamp
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		m.Owner = owner.UID
	}
	m.Ready, m.ReadySince = readiness(pod)
	return m
}

func placed(pod *corev1.Pod) metav1.Time {
	if pod.Spec.NodeName == "" {
		return metav1.Time{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime
		}
	}
	return pod.CreationTimestamp
}

// IsReady reports whether a pod is ready.
func IsReady(pod *corev1.Pod) bool {
	ready, _ := readiness(pod)
	return ready
}

func readiness(pod *corev1.Pod) (ready bool, since metav1.Time) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime
		}
	}
	return false, metav1.Time{}
}

func certificateIn(volumes []corev1.Volume) string {
	for _, v := range volumes {
		if v.Name == naming.TLSVolume && v.Secret != nil {
			return v.Secret.SecretName
		}
	}
	return ""
}

// Never is how long a database without a readiness probe may look ready.
const Never = time.Duration(math.MaxInt64)

func unreadyAfter(database *corev1.Container) time.Duration {
	if database == nil || database.ReadinessProbe == nil {
		return Never
	}
	p := database.ReadinessProbe
	return time.Duration(max(p.PeriodSeconds, p.TimeoutSeconds)*p.FailureThreshold+p.TimeoutSeconds) * time.Second
}

// ResourcesField is the field with the resources of a member, for remedies.
const ResourcesField = "spec.resources"
