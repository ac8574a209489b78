/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// actionDefaults are the resources of a container that runs an action. Transfer uses at most MemoryBound of its
// package. The rest is for the action and for its files in the page cache.
var actionDefaults = corev1.ResourceRequirements{
	Requests: pods.Quantities("100m", "256Mi"), Limits: pods.Quantities("2", "1Gi"),
}

// installDefaults are the resources of the container that copies the transfer program, a file of 24 MB.
var installDefaults = corev1.ResourceRequirements{
	Requests: pods.Quantities("10m", "32Mi"), Limits: pods.Quantities("500m", "128Mi"),
}

// requirements are the resources of a container that runs the action.
func (a Spec) requirements(cluster *dbv1.DatabaseCluster) *corev1ac.ResourceRequirementsApplyConfiguration {
	defaults := pods.AtMost(cluster.Spec.Resources, actionDefaults)
	if a.Offline {
		defaults = AtLeast(cluster.Spec.Resources)
	}
	return a.over(cluster, defaults)
}

// installation are the resources of the container that copies the transfer program.
func (a Spec) installation(cluster *dbv1.DatabaseCluster) *corev1ac.ResourceRequirementsApplyConfiguration {
	return a.over(cluster, pods.AtMost(cluster.Spec.Resources, installDefaults))
}

// over are the given resources, and the defaults where none are given.
func (a Spec) over(cluster *dbv1.DatabaseCluster, defaults corev1.ResourceRequirements) *corev1ac.ResourceRequirementsApplyConfiguration {
	return objects.As[corev1ac.ResourceRequirementsApplyConfiguration](pods.WithDefaults(a.given(cluster), defaults))
}

// given are the resources in the spec: those of the action, otherwise those of all helpers.
func (a Spec) given(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	return pods.Over(cluster.Spec.Helpers.Resources, a.Resources)
}

// AtLeast returns the resources of an action that may start the database on a member's volume: at least those of
// the member.
//
// A member without a limit may use the whole node, and its database would fail with less. So such an action has no
// limit either.
func AtLeast(member corev1.ResourceRequirements) corev1.ResourceRequirements {
	defaults := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for name, request := range actionDefaults.Requests {
		limit, limited := member.Limits[name]
		if limited {
			defaults.Limits[name] = pods.Larger(limit, least(name))
		}
		asked, asks := member.Requests[name]
		if !asks && limited { // the default of Kubernetes
			asked = limit
		}
		defaults.Requests[name] = pods.Larger(asked, request)
	}
	return defaults
}

// least is the lowest default limit of an action that may start the database. It needs its own memory beside that of the database, but
// not its own CPU.
func least(name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourceCPU {
		return actionDefaults.Requests[name]
	}
	return actionDefaults.Limits[name]
}
