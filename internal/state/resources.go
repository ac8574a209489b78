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

// Resize is how far the kubelet is with a change of a running pod's resources.
type Resize struct {
	// Pending tells that the pod does not have the resources yet that it should have.
	Pending bool
	// Infeasible tells that it will not get them on its node, or not while it runs.
	Infeasible bool
	// Message is what the kubelet says about it, never "" while it is pending.
	Message string
	// Unseen tells that the kubelet has not dealt yet with the resources that the pod should have.
	Unseen bool
}

// resizeOf reads how far a resize is. A kubelet says so in conditions, once it has seen what is wanted; one that it
// forgot to take off again counts no more when the container has what the pod should have.
func resizeOf(pod *corev1.Pod) Resize {
	wanted, has, known := containerResources(pod)
	if known && wanted == has {
		return Resize{}
	}
	r := Resize{}
	for _, c := range pod.Status.Conditions {
		r = r.with(c)
	}
	// Where the kubelet does not say which pod it has seen (before Kubernetes 1.34), what the container has tells.
	r.Unseen = known
	if pod.Status.ObservedGeneration > 0 {
		r.Unseen = pod.Status.ObservedGeneration < pod.Generation
	}
	return r
}

// containerResources are those that the database should have and those that it has, where the kubelet tells.
func containerResources(pod *corev1.Pod) (wanted, has string, known bool) {
	container := databaseContainer(pod.Spec.Containers)
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == naming.Container })
	if container == nil || i < 0 || pod.Status.ContainerStatuses[i].Resources == nil {
		return "", "", false
	}
	return resourcesText(container.Resources), resourcesText(*pod.Status.ContainerStatuses[i].Resources), true
}

// with is what a condition of the pod adds.
func (r Resize) with(c corev1.PodCondition) Resize {
	if c.Status != corev1.ConditionTrue {
		return r
	}
	switch c.Type {
	case corev1.PodResizePending:
		return Resize{Pending: true, Infeasible: c.Reason == corev1.PodReasonInfeasible, Message: strings.TrimSuffix(c.Reason+": "+c.Message, ": ")}
	case corev1.PodResizeInProgress:
		failed := c.Reason == corev1.PodReasonError // as a memory limit below what is in use
		return Resize{Pending: true, Infeasible: r.Infeasible || failed, Message: strings.TrimSuffix("in progress: "+c.Message, ": ")}
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

// SameResources tells whether the database of a template has these resources.
func SameResources(template corev1.PodTemplateSpec, resources corev1.ResourceRequirements) bool {
	database := databaseContainer(template.Spec.Containers)
	return database != nil && resourcesText(database.Resources) == resourcesText(resources)
}

// resourcesText is the same for resources that mean the same to a pod: the API server requests what is
// limited but not requested.
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
