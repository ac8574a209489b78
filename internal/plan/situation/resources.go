/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Requested are the resources of the members: those of the spec, with the requests that the operator has decided where spec.autoResize has
// bounds. The bounds of now count at once, also for an older decision: a lower max must free a member that no node has room for. A limit
// keeps its ratio to the request, so a decision does not change the QoS class.
func Requested(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	asked, decided := cluster.Spec.AutoResize, cluster.Status.AutoResize
	if asked == nil || decided == nil {
		return cluster.Spec.Resources
	}
	all := cluster.Spec.Resources.DeepCopy()
	within := Within(asked, decided.Requests)
	request(all, corev1.ResourceCPU, within.CPU)
	request(all, corev1.ResourceMemory, within.Memory)
	return *all
}

// Within are decided requests within the bounds of now. One without bounds is not in force.
func Within(asked *dbv1.ClusterAutoResize, decided dbv1.ClusterResizeAmounts) dbv1.ClusterResizeAmounts {
	return dbv1.ClusterResizeAmounts{CPU: within(asked.CPU, decided.CPU), Memory: within(asked.Memory, decided.Memory)}
}

func within(bounds *dbv1.ClusterResizeBounds, decided *resource.Quantity) *resource.Quantity {
	if bounds == nil || decided == nil {
		return nil
	}
	next := Clamp(*decided, *bounds)
	return &next
}

// Clamp is the value, or the bound that it exceeds.
func Clamp(value resource.Quantity, bounds dbv1.ClusterResizeBounds) resource.Quantity {
	switch {
	case value.Cmp(bounds.Min) < 0:
		return bounds.Min
	case value.Cmp(bounds.Max) > 0:
		return bounds.Max
	default:
		return value
	}
}

// request sets a decided request, and its limit if the spec has one.
func request(all *corev1.ResourceRequirements, name corev1.ResourceName, decided *resource.Quantity) {
	declared, found := all.Requests[name]
	if decided == nil || !found || declared.IsZero() {
		return
	}
	all.Requests[name] = *decided
	if limit, found := all.Limits[name]; found {
		all.Limits[name] = inRatio(name, limit, declared, *decided)
	}
}

// inRatio is the limit of a decided request: as many times the request as in the spec.
func inRatio(name corev1.ResourceName, limit, declared, decided resource.Quantity) resource.Quantity {
	if limit.Cmp(declared) == 0 {
		return decided
	}
	exact := decided.AsApproximateFloat64() * limit.AsApproximateFloat64() / declared.AsApproximateFloat64()
	next := *resource.NewMilliQuantity(int64(math.Round(exact*1000)), resource.DecimalSI)
	if name == corev1.ResourceMemory {
		next = *resource.NewQuantity(int64(math.Round(exact/mebi))*mebi, resource.BinarySI)
	}
	if next.Cmp(decided) < 0 {
		return decided
	}
	return next
}

const mebi = 1 << 20
