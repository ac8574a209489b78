/*
SPDX-License-Identifier: Apache-2.0
*/

package situation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestALimitKeepsItsRatioToADecidedRequest(t *testing.T) {
	both := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for name, c := range map[string]struct {
		limits         corev1.ResourceList
		cpu, memory    string
		limCPU, limMem string
	}{
		"none":                         {nil, "750m", "3Gi", "0", "0"},
		"equal stays equal":            {both("500m", "1Gi"), "750m", "1526Mi", "750m", "1526Mi"},
		"twice":                        {both("1", "2Gi"), "750m", "1526Mi", "1500m", "3052Mi"},
		"a third more, in whole steps": {both("667m", "1400Mi"), "130m", "1526Mi", "173m", "2086Mi"},
		"never below the request":      {both("500m", "1073741825"), "750m", "1610612737", "750m", "1610612737"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			cluster.Spec.Resources = corev1.ResourceRequirements{Requests: both("500m", "1Gi"), Limits: c.limits}
			cpu, memory := resource.MustParse(c.cpu), resource.MustParse(c.memory)
			bounds := dbv1.ClusterResizeBounds{Min: resource.MustParse("1m"), Max: resource.MustParse("8Gi")}
			cluster.Spec.AutoResize = &dbv1.ClusterAutoResize{CPU: &bounds, Memory: &bounds}
			cluster.Status.AutoResize = &dbv1.ClusterAutoResizeStatus{Requests: dbv1.ClusterResizeAmounts{CPU: &cpu, Memory: &memory}}
			got := situation.Requested(cluster)
			if got.Requests.Cpu().Cmp(cpu) != 0 || got.Requests.Memory().Cmp(memory) != 0 {
				t.Errorf("requests %v", got.Requests)
			}
			if got.Limits.Cpu().String() != c.limCPU || got.Limits.Memory().String() != c.limMem {
				t.Errorf("limits %s and %s", got.Limits.Cpu(), got.Limits.Memory())
			}
			if declared := cluster.Spec.Resources.Requests; declared.Cpu().String() != "500m" {
				t.Errorf("it has changed the spec: %v", declared)
			}
			cluster.Spec.AutoResize = nil
			if got := situation.Requested(cluster); got.Requests.Cpu().String() != "500m" {
				t.Errorf("a decision is in force without autoResize: %v", got)
			}
		})
	}
}
