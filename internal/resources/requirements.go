/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// A namespace with a quota for CPU or memory and without a LimitRange rejects every pod that has a container
// without requests and limits. So each container of a Job has both.

// actionDefaults are the resources of a container that runs an action. Transfer uses at most MemoryBound of its
// package. The rest is for the action and for its files in the page cache.
var actionDefaults = corev1.ResourceRequirements{
	Requests: quantities("100m", "256Mi"), Limits: quantities("2", "1Gi"),
}

// installDefaults are the resources of the container that copies the transfer program, a file of 24 MB.
var installDefaults = corev1.ResourceRequirements{
	Requests: quantities("10m", "32Mi"), Limits: quantities("500m", "128Mi"),
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// requirements are the resources of a container that runs the action.
func (a Action) requirements(cluster *dbv1.DatabaseCluster) *corev1ac.ResourceRequirementsApplyConfiguration {
	defaults := atMost(cluster.Spec.Resources, actionDefaults)
	if a.Offline {
		defaults = atLeast(cluster.Spec.Resources)
	}
	return as[corev1ac.ResourceRequirementsApplyConfiguration](withDefaults(a.given(cluster), defaults))
}

// installation are the resources of the container that copies the transfer program.
func (a Action) installation(cluster *dbv1.DatabaseCluster) *corev1ac.ResourceRequirementsApplyConfiguration {
	return as[corev1ac.ResourceRequirementsApplyConfiguration](withDefaults(a.given(cluster), atMost(cluster.Spec.Resources, installDefaults)))
}

// given are the resources in the spec: those of the action, otherwise those of all helpers.
func (a Action) given(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	return over(cluster.Spec.Helpers.Resources, a.Resources)
}

// over adds the resources of others that an own list does not mention.
func over(others, own corev1.ResourceRequirements) corev1.ResourceRequirements {
	merged := *own.DeepCopy()
	mentioned := func(name corev1.ResourceName) bool {
		_, asks := own.Requests[name]
		_, limits := own.Limits[name]
		return asks || limits
	}
	for name, quantity := range others.Requests {
		if !mentioned(name) {
			setQuantity(&merged.Requests, name, quantity)
		}
	}
	for name, quantity := range others.Limits {
		if !mentioned(name) {
			setQuantity(&merged.Limits, name, quantity)
		}
	}
	return merged
}

// atMost lowers default limits to those of a member: a namespace that bounds its members bounds Jobs, too. A limit is not lowered
// below the default request.
func atMost(member, defaults corev1.ResourceRequirements) corev1.ResourceRequirements {
	lowered := *defaults.DeepCopy()
	for name, usual := range defaults.Limits {
		if limit, limited := member.Limits[name]; limited && limit.Cmp(usual) < 0 {
			lowered.Limits[name] = larger(limit, defaults.Requests[name])
		}
	}
	return lowered
}

// atLeast returns the resources of an action that may start the database on a member's volume: at least those of
// the member.
//
// A member without a limit may use the whole node, and its database would fail with less. So such an action has no
// limit either.
func atLeast(member corev1.ResourceRequirements) corev1.ResourceRequirements {
	defaults := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for name, request := range actionDefaults.Requests {
		limit, limited := member.Limits[name]
		if limited {
			defaults.Limits[name] = larger(limit, least(name))
		}
		asked, asks := member.Requests[name]
		if !asks && limited { // the default of Kubernetes
			asked = limit
		}
		defaults.Requests[name] = larger(asked, request)
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

// withDefaults adds the missing values. A default request never exceeds a limit, and a default limit is never below
// a request.
func withDefaults(given, defaults corev1.ResourceRequirements) corev1.ResourceRequirements {
	merged := *given.DeepCopy()
	for name, request := range defaults.Requests {
		limit, limited := given.Limits[name]
		asked, asks := given.Requests[name]
		if usual, has := defaults.Limits[name]; has && !limited {
			limit, limited = larger(usual, asked), true
			setQuantity(&merged.Limits, name, limit)
		}
		if asks {
			continue
		}
		if limited && request.Cmp(limit) > 0 {
			request = limit
		}
		setQuantity(&merged.Requests, name, request)
	}
	return merged
}

func setQuantity(list *corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = quantity
}

func larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
