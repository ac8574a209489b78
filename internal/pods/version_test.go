/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

func TestTheVersionContainerHasASmallPartOfTheResources(t *testing.T) {
	tiny := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), "example.com/card": resource.MustParse("1")}
	cases := map[string]struct {
		of, want corev1.ResourceRequirements
	}{
		"none":        {corev1.ResourceRequirements{}, corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}},
		"guaranteed":  {corev1.ResourceRequirements{Requests: Quantities("3", "4Gi"), Limits: Quantities("3", "4Gi")}, corev1.ResourceRequirements{Requests: Quantities("500m", "512Mi"), Limits: Quantities("500m", "512Mi")}},
		"less, other": {corev1.ResourceRequirements{Limits: tiny}, corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{corev1.ResourceCPU: tiny[corev1.ResourceCPU]}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := smallPart(c.of); objects.Hash(got) != objects.Hash(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
