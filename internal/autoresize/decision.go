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
	within := clamp(*o.declared, o.bounds)
	return within.Cmp(*o.declared) == 0
}

// next is the request that the bounds and the recommendation ask for. Without a recommendation, only the bounds count. Memory never shrinks
// by a recommendation: the parameters of a database, and what it has in its caches, may need what it has.
func (o one) next() resource.Quantity {
	within := clamp(*o.current, o.bounds)
	if o.recommended == nil {
		return within
	}
	wanted := o.rounded()
	change := wanted.AsApproximateFloat64() - within.AsApproximateFloat64()
	shrinks := o.name == corev1.ResourceMemory && change < 0
	if shrinks || math.Abs(change) < leastChange*within.AsApproximateFloat64() {
		return within
	}
	return wanted
}

// outside reports whether the current request is outside the bounds, so that the next one does not wait.
func (o one) outside() bool {
	within := clamp(*o.current, o.bounds)
	return within.Cmp(*o.current) != 0
}

// exceeds reports whether the recommendation is well above max.
func (o one) exceeds() bool {
	return o.recommended != nil && o.recommended.AsApproximateFloat64() > (1+leastChange)*o.bounds.Max.AsApproximateFloat64()
}

// rounded is the recommendation in steps, within the bounds.
func (o one) rounded() resource.Quantity {
	within := clamp(*o.recommended, o.bounds)
	if within.Cmp(*o.recommended) != 0 {
		return within
	}
	next := resource.NewMilliQuantity((within.MilliValue()+cpuStep-1)/cpuStep*cpuStep, resource.DecimalSI)
	if o.name == corev1.ResourceMemory {
		next = resource.NewQuantity((within.Value()+mebi-1)/mebi*mebi, resource.BinarySI)
	}
	return clamp(*next, o.bounds)
}

func clamp(value resource.Quantity, bounds dbv1.ClusterResizeBounds) resource.Quantity {
	switch {
	case value.Cmp(bounds.Min) < 0:
		return bounds.Min
	case value.Cmp(bounds.Max) > 0:
		return bounds.Max
	default:
		return value
	}
}

// decided is what the bounds and the recommendation ask for.
type decided struct {
	requests dbv1.ClusterResizeAmounts
	// changes is true if a request differs from the current one, and urgent if one is outside the bounds.
	changes, urgent bool
}

func decideOn(all []one) decided {
	var d decided
	for _, o := range all {
		next := o.next()
		d.changes = d.changes || next.Cmp(*o.current) != 0
		d.urgent = d.urgent || o.outside()
		if o.name == corev1.ResourceMemory {
			d.requests.Memory = &next
		} else {
			d.requests.CPU = &next
		}
	}
	return d
}
