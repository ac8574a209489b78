/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// PodResize is the progress of an in-place resize of a pod.
type PodResize struct {
	// Pending is true if the pod does not have its desired resources yet.
	Pending bool
	// Infeasible is true if the resize is impossible on the pod's node, or while the pod runs.
	Infeasible bool
	// Message is the kubelet's message; never "" while the resize is pending.
	Message string
	// Unseen is true if the kubelet has not processed the desired resources yet.
	Unseen bool
}

// resizeOf returns the progress of a resize. The kubelet reports it in conditions after it has observed the desired resources. A
// condition that it forgot to remove does not count if the container has the desired resources.
func resizeOf(pod *corev1.Pod) PodResize {
	wanted, has, known := containerResources(pod)
	if known && wanted == has {
		return PodResize{}
	}
	r := PodResize{}
	for _, c := range pod.Status.Conditions {
		r = r.with(c)
	}
	// Before Kubernetes 1.34 the kubelet does not report the observed generation of the pod: compare the resources of the
	// container.
	r.Unseen = known
	if pod.Status.ObservedGeneration > 0 {
		r.Unseen = pod.Status.ObservedGeneration < pod.Generation
	}
	return r
}

// containerResources returns the desired and the actual resources of the database, if the kubelet reports them.
func containerResources(pod *corev1.Pod) (wanted, has string, known bool) {
	container := databaseContainer(pod.Spec.Containers)
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == naming.Container })
	if container == nil || i < 0 || pod.Status.ContainerStatuses[i].Resources == nil {
		return "", "", false
	}
	return resourcesText(container.Resources), resourcesText(*pod.Status.ContainerStatuses[i].Resources), true
}

// with adds a condition of the pod.
func (r PodResize) with(c corev1.PodCondition) PodResize {
	if c.Status != corev1.ConditionTrue {
		return r
	}
	switch c.Type {
	case corev1.PodResizePending:
		return PodResize{Pending: true, Infeasible: c.Reason == corev1.PodReasonInfeasible,
			Message: strings.TrimSuffix(c.Reason+": "+c.Message, ": ")}
	case corev1.PodResizeInProgress:
		failed := c.Reason == corev1.PodReasonError // for example a memory limit below the usage
		return PodResize{Pending: true, Infeasible: r.Infeasible || failed, Message: strings.TrimSuffix("in progress: "+c.Message, ": ")}
	default:
		return r
	}
}

func databaseContainer(containers []corev1.Container) *corev1.Container {
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == naming.Container })
	if i < 0 {
		return nil
	}
	return &containers[i]
}

// SameResources reports whether the database of a template has these resources.
func SameResources(template corev1.PodTemplateSpec, resources corev1.ResourceRequirements) bool {
	database := databaseContainer(template.Spec.Containers)
	return database != nil && resourcesText(database.Resources) == resourcesText(resources)
}

// HasResources reports whether the pod of a member asks for these resources.
func (m Member) HasResources(resources corev1.ResourceRequirements) bool {
	return m.Resources == resourcesText(resources)
}

// resourcesText returns the same text for resources that are equal for a pod: the API server sets missing requests to the limits.
func resourcesText(r corev1.ResourceRequirements) string {
	requests := maps.Clone(r.Requests)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	for name, limit := range r.Limits {
		if _, found := requests[name]; !found {
			requests[name] = limit
		}
	}
	return "requests " + listText(requests) + " limits " + listText(r.Limits)
}

func listText(list corev1.ResourceList) string {
	texts := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		texts = append(texts, fmt.Sprintf("%s=%dm", name, quantity.MilliValue()))
	}
	return strings.Join(texts, ",")
}
