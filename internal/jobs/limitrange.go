/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// FitJob changes the resources of a new Job's containers to satisfy the LimitRanges of its namespace. Without it, the API server would
// refuse every pod of the Job. The hash of a Job leaves these changes out, so another LimitRange re-creates no Job.
func FitJob(job *batchv1.Job, ranges []corev1.LimitRange) {
	pod := &job.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			for _, r := range ranges {
				fit(&containers[i].Resources, r.Spec.Limits)
			}
		}
	}
}

// fit applies the bounds of containers. Those of pods apply to each container: an action has one that works.
func fit(resources *corev1.ResourceRequirements, bounds []corev1.LimitRangeItem) {
	for _, bound := range bounds {
		if bound.Type != corev1.LimitTypeContainer && bound.Type != corev1.LimitTypePod {
			continue
		}
		limit(resources, bound.Default)
		for name := range resources.Requests {
			raise(resources.Requests, name, bound.Min)
			lower(resources.Requests, name, bound.Max)
		}
		for name := range resources.Limits {
			lower(resources.Limits, name, bound.Max)
			raise(resources.Limits, name, bound.Min)
			narrow(resources, name, bound.MaxLimitRequestRatio)
		}
	}
}

// limit sets the limits that a container would get by default, but none below a request.
func limit(resources *corev1.ResourceRequirements, usual corev1.ResourceList) {
	for name, request := range resources.Requests {
		_, limited := resources.Limits[name]
		if most, has := usual[name]; has && !limited {
			pods.SetQuantity(&resources.Limits, name, pods.Larger(most, request))
		}
	}
}

func raise(list corev1.ResourceList, name corev1.ResourceName, least corev1.ResourceList) {
	if bound, bounded := least[name]; bounded {
		list[name] = pods.Larger(list[name], bound)
	}
}

func lower(list corev1.ResourceList, name corev1.ResourceName, most corev1.ResourceList) {
	if bound, bounded := most[name]; bounded && bound.Cmp(list[name]) < 0 {
		list[name] = bound
	}
}

// narrow raises a request until the limit is at most a multiple of it.
func narrow(resources *corev1.ResourceRequirements, name corev1.ResourceName, ratios corev1.ResourceList) {
	ratio, bounded := ratios[name]
	request, asks := resources.Requests[name]
	if !bounded || !asks || ratio.Sign() <= 0 {
		return
	}
	limit := resources.Limits[name]
	least := resource.NewMilliQuantity((limit.MilliValue()*1000+ratio.MilliValue()-1)/ratio.MilliValue(), limit.Format)
	if name == corev1.ResourceMemory { // in whole bytes
		least = resource.NewQuantity((least.MilliValue()+999)/1000, limit.Format)
	}
	resources.Requests[name] = pods.Larger(request, *least)
}
