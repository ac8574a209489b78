/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A namespace with a quota for CPU or memory and without a LimitRange rejects every pod that has a container
// without requests and limits. So each container of a Job has both.

// Quantities are an amount of CPU and one of memory.
func Quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// Over adds the resources of others that an own list does not mention.
func Over(others, own corev1.ResourceRequirements) corev1.ResourceRequirements {
	merged := *own.DeepCopy()
	mentioned := func(name corev1.ResourceName) bool {
		_, asks := own.Requests[name]
		_, limits := own.Limits[name]
		return asks || limits
	}
	for name, quantity := range others.Requests {
		if !mentioned(name) {
			SetQuantity(&merged.Requests, name, quantity)
		}
	}
	for name, quantity := range others.Limits {
		if !mentioned(name) {
			SetQuantity(&merged.Limits, name, quantity)
		}
	}
	return merged
}

// AtMost lowers default limits to those of a member: a namespace that bounds its members bounds Jobs, too. A limit is not lowered
// below the default request.
func AtMost(member, defaults corev1.ResourceRequirements) corev1.ResourceRequirements {
	lowered := *defaults.DeepCopy()
	for name, usual := range defaults.Limits {
		if limit, limited := member.Limits[name]; limited && limit.Cmp(usual) < 0 {
			lowered.Limits[name] = Larger(limit, defaults.Requests[name])
		}
	}
	return lowered
}

// WithDefaults adds the missing values. A default request never exceeds a limit, and a default limit is never below
// a request.
func WithDefaults(given, defaults corev1.ResourceRequirements) corev1.ResourceRequirements {
	merged := *given.DeepCopy()
	for name, request := range defaults.Requests {
		limit, limited := given.Limits[name]
		asked, asks := given.Requests[name]
		if usual, has := defaults.Limits[name]; has && !limited {
			limit, limited = Larger(usual, asked), true
			SetQuantity(&merged.Limits, name, limit)
		}
		if asks {
			continue
		}
		if limited && request.Cmp(limit) > 0 {
			request = limit
		}
		SetQuantity(&merged.Requests, name, request)
	}
	return merged
}

// SetQuantity sets an amount in a list, which may be nil.
func SetQuantity(list *corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = quantity
}

// Larger is the larger of two amounts.
func Larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
