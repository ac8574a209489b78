/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

func TestAJobFitsTheLimitRangesOfItsNamespace(t *testing.T) {
	defaults := corev1.ResourceRequirements{Requests: pods.Quantities("100m", "256Mi"), Limits: pods.Quantities("2", "1Gi")}
	container := func(item corev1.LimitRangeItem) corev1.LimitRangeItem {
		item.Type = corev1.LimitTypeContainer
		return item
	}
	for name, c := range map[string]struct {
		bounds []corev1.LimitRangeItem
		want   corev1.ResourceRequirements
	}{
		"none":               {nil, defaults},
		"a maximum":          {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Max: pods.Quantities("1", "512Mi")})}, corev1.ResourceRequirements{Requests: pods.Quantities("100m", "256Mi"), Limits: pods.Quantities("1", "512Mi")}},
		"a low maximum":      {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Max: pods.Quantities("50m", "64Mi")})}, corev1.ResourceRequirements{Requests: pods.Quantities("50m", "64Mi"), Limits: pods.Quantities("50m", "64Mi")}},
		"a minimum":          {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Min: pods.Quantities("250m", "300Mi")})}, corev1.ResourceRequirements{Requests: pods.Quantities("250m", "300Mi"), Limits: pods.Quantities("2", "1Gi")}},
		"a high minimum":     {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Min: pods.Quantities("3", "2Gi")})}, corev1.ResourceRequirements{Requests: pods.Quantities("3", "2Gi"), Limits: pods.Quantities("3", "2Gi")}},
		"a ratio":            {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{MaxLimitRequestRatio: pods.Quantities("4", "2")})}, corev1.ResourceRequirements{Requests: pods.Quantities("500m", "512Mi"), Limits: pods.Quantities("2", "1Gi")}},
		"a maximum of pods":  {[]corev1.LimitRangeItem{{Type: corev1.LimitTypePod, Max: pods.Quantities("1", "1Gi")}}, corev1.ResourceRequirements{Requests: pods.Quantities("100m", "256Mi"), Limits: pods.Quantities("1", "1Gi")}},
		"a bound of claims":  {[]corev1.LimitRangeItem{{Type: corev1.LimitTypePersistentVolumeClaim, Max: pods.Quantities("1m", "1")}}, defaults},
		"a bound of storage": {[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Min: corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}})}, defaults},
		"a low maximum and a default": {
			[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Max: pods.Quantities("1", "512Mi"), Default: pods.Quantities("50m", "64Mi")})},
			corev1.ResourceRequirements{Requests: pods.Quantities("100m", "256Mi"), Limits: pods.Quantities("1", "512Mi")},
		},
		"two": {
			[]corev1.LimitRangeItem{container(corev1.LimitRangeItem{Max: pods.Quantities("1", "1Gi")}), container(corev1.LimitRangeItem{Min: pods.Quantities("200m", "64Mi")})},
			corev1.ResourceRequirements{Requests: pods.Quantities("200m", "256Mi"), Limits: pods.Quantities("1", "1Gi")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{}
			job.Spec.Template.Spec.InitContainers = []corev1.Container{{Resources: *defaults.DeepCopy()}}
			job.Spec.Template.Spec.Containers = []corev1.Container{{Resources: *defaults.DeepCopy()}}
			FitJob(job, []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: c.bounds}}})
			for _, got := range append(job.Spec.Template.Spec.InitContainers, job.Spec.Template.Spec.Containers...) {
				if !equality.Semantic.DeepEqual(got.Resources, c.want) {
					t.Errorf("got %+v, want %+v", got.Resources, c.want)
				}
			}
		})
	}
}

// Kubernetes would give the container the default limit, and refuse it because of its request.
func TestAJobWithoutLimitsFitsADefaultLimit(t *testing.T) {
	for usual, want := range map[string]string{"128Mi": "256Mi", "1Gi": "1Gi"} {
		job := &batchv1.Job{}
		job.Spec.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: pods.Quantities("100m", "256Mi")}}, {}}
		FitJob(job, []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(usual)},
		}}}}})
		first, second := job.Spec.Template.Spec.Containers[0].Resources, job.Spec.Template.Spec.Containers[1].Resources
		if first.Limits.Memory().String() != want || len(first.Limits) != 1 || len(second.Limits) > 0 {
			t.Errorf("with %s: %+v, %+v", usual, first, second)
		}
	}
}
