/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Member is what the operator uses of a member's pod, and all that it uses: the watch on pods lets an
// event through exactly when this value changes.
type Member struct {
	Name     string
	UID      types.UID
	Owner    types.UID // of the StatefulSet that controls the pod; "" for none
	Ordinal  int32
	Created  metav1.Time
	Revision string
	// Template is the operator's own hash of the template that the pod was made from, but for the resources
	// of the database container, which Resources are.
	Template  string
	Resources string
	// Image is that of the database container.
	Image string
	// Engine is the engine of that template; "" where there was none, or an earlier operator made it.
	Engine string
	// Started is true where the database container has been started at least once.
	Started bool
	// Resize is how far the kubelet is with a change of the resources.
	Resize Resize
	Ready  bool
	// ReadySince is when Ready last changed.
	ReadySince  metav1.Time
	Terminating bool
	// StopBy is when a pod that is stopping has to have ended by: when it was deleted, and its grace.
	StopBy metav1.Time
	// End is how the database ended.
	End End
	// HasFinalizer tells that the pod bears the operator's finalizer: it does not go before its end has been read.
	HasFinalizer bool
	// Problem says why the pod cannot run, or why it last ended; "" when no reason is known.
	Problem string
	// Stuck tells that the pod does not run and will not by itself: it was never started, or has ended again
	// and again.
	Stuck bool
	// Version is the pod's resourceVersion, for the precondition of its deletion. No decision reads it.
	Version string
}

// Facts is the member without what no decision reads.
func (m Member) Facts() Member {
	m.Version = ""
	return m
}

// Steadily is how long a member that has ended before has to be ready until that counts: a container
// without a readiness probe is ready for an instant between one crash and the next.
const Steadily = 10 * time.Second

// Serving tells whether the member is ready and not on its way out. One that has ended before has to be
// ready steadily.
func (m Member) Serving(now time.Time) bool {
	return m.Ready && !m.Terminating && (m.Problem == "" || m.Steady(now, Steadily))
}

// Steady tells whether the member has been ready for that long, which is what it takes to disturb another.
func (m Member) Steady(now time.Time, after time.Duration) bool {
	return m.Ready && !m.Terminating && m.settlesIn(now, after) <= 0
}

// Broken tells whether the member is known to be unable to run. One on its way out is not: it will be
// replaced.
func (m Member) Broken(now time.Time) bool {
	return m.Problem != "" && !m.Terminating && !m.Serving(now)
}

// settlesIn is how long it takes until the member has been ready for that long.
func (m Member) settlesIn(now time.Time, after time.Duration) time.Duration {
	return m.ReadySince.Add(after).Sub(now)
}

// MemberOf reads a Member from its pod.
func MemberOf(pod *corev1.Pod, ordinal int32) Member {
	m := Member{
		Name:         pod.Name,
		UID:          pod.UID,
		Ordinal:      ordinal,
		Created:      pod.CreationTimestamp,
		Revision:     pod.Labels[appsv1.StatefulSetRevisionLabel],
		Template:     pod.Annotations[dbv1.AnnotationTemplate],
		Engine:       pod.Annotations[dbv1.AnnotationEngine],
		Started:      hasStarted(pod),
		Terminating:  pod.DeletionTimestamp != nil,
		End:          endOf(pod),
		HasFinalizer: Holds(pod),
		Resize:       resizeOf(pod),
		Problem:      problem(pod),
		Stuck:        stuck(pod),
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
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			m.Ready, m.ReadySince = c.Status == corev1.ConditionTrue, c.LastTransitionTime
		}
	}
	return m
}
