/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestTheVersionContainerHasASmallPartOfTheResources(t *testing.T) {
	tiny := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), "example.com/card": resource.MustParse("1")}
	cases := map[string]struct {
		of, want corev1.ResourceRequirements
	}{
		"none":        {corev1.ResourceRequirements{}, corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}},
		"guaranteed":  {corev1.ResourceRequirements{Requests: quantities("3", "4Gi"), Limits: quantities("3", "4Gi")}, corev1.ResourceRequirements{Requests: quantities("500m", "512Mi"), Limits: quantities("500m", "512Mi")}},
		"less, other": {corev1.ResourceRequirements{Limits: tiny}, corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{corev1.ResourceCPU: tiny[corev1.ResourceCPU]}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := smallPart(c.of); hash(got) != hash(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
