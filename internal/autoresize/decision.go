/*
SPDX-License-Identifier: Apache-2.0
*/

package autoresize

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// A recommendation that differs by less than a tenth changes nothing. CPU is decided in steps of 10m, memory in steps of 1Mi.
const (
	leastChange = 0.1
	cpuStep     = 10
	mebi        = 1 << 20
)

const defaultCooldownSeconds = 60 * 60

func cooldown(asked *dbv1.ClusterAutoResize) time.Duration {
	seconds := int32(defaultCooldownSeconds)
	if asked.CooldownSeconds != nil {
		seconds = *asked.CooldownSeconds
	}
	return time.Duration(seconds) * time.Second
}

// one is a resource with bounds in spec.autoResize.
type one struct {
	name   corev1.ResourceName
	bounds dbv1.ClusterResizeBounds
	// declared is the request in spec.resources, and current the one that is in force; nil if there is none.
	declared, current *resource.Quantity
	// recommended is nil if it is unknown.
	recommended *resource.Quantity
}

// bounded are the resources with bounds. The resources of the cluster are those in force.
func bounded(declared, cluster *dbv1.DatabaseCluster, target dbv1.ClusterResizeAmounts) []one {
	var all []one
	asked := declared.Spec.AutoResize
	for _, r := range []struct {
		name        corev1.ResourceName
		bounds      *dbv1.ClusterResizeBounds
		recommended *resource.Quantity
	}{{corev1.ResourceCPU, asked.CPU, target.CPU}, {corev1.ResourceMemory, asked.Memory, target.Memory}} {
		if r.bounds != nil {
			all = append(all, one{name: r.name, bounds: *r.bounds, recommended: r.recommended,
				declared: requestOf(declared, r.name), current: requestOf(cluster, r.name)})
		}
	}
	return all
}

func requestOf(cluster *dbv1.DatabaseCluster, name corev1.ResourceName) *resource.Quantity {
	if request, found := cluster.Spec.Resources.Requests[name]; found {
		return &request
	}
	return nil
}

// valid reports whether spec.resources has a request within the bounds.
func (o one) valid() bool {
	if o.declared == nil {
		return false
	}
	within := situation.Clamp(*o.declared, o.bounds)
	return within.Cmp(*o.declared) == 0
}

// next is the request that the recommendation asks for. The current one is within the bounds. Memory never shrinks by a recommendation: the
// parameters of a database, and what it has in its caches, may need what it has.
func (o one) next() resource.Quantity {
	if o.recommended == nil {
		return *o.current
	}
	wanted := o.rounded()
	change := wanted.AsApproximateFloat64() - o.current.AsApproximateFloat64()
	shrinks := o.name == corev1.ResourceMemory && change < 0
	if shrinks || math.Abs(change) < leastChange*o.current.AsApproximateFloat64() {
		return *o.current
	}
	return wanted
}

// exceeds reports whether the recommendation is well above max.
func (o one) exceeds() bool {
	return o.recommended != nil && o.recommended.AsApproximateFloat64() > (1+leastChange)*o.bounds.Max.AsApproximateFloat64()
}

// rounded is the recommendation in steps, within the bounds.
func (o one) rounded() resource.Quantity {
	within := situation.Clamp(*o.recommended, o.bounds)
	if within.Cmp(*o.recommended) != 0 {
		return within
	}
	next := resource.NewMilliQuantity((within.MilliValue()+cpuStep-1)/cpuStep*cpuStep, resource.DecimalSI)
	if o.name == corev1.ResourceMemory {
		next = resource.NewQuantity((within.Value()+mebi-1)/mebi*mebi, resource.BinarySI)
	}
	return situation.Clamp(*next, o.bounds)
}

// decideOn returns the requests that the recommendation asks for, and whether one differs from the current one.
func decideOn(all []one) (requests dbv1.ClusterResizeAmounts, changes bool) {
	for _, o := range all {
		next := o.next()
		changes = changes || next.Cmp(*o.current) != 0
		if o.name == corev1.ResourceMemory {
			requests.Memory = &next
		} else {
			requests.CPU = &next
		}
	}
	return requests, changes
}
