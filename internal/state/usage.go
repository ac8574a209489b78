/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import "time"

// VolumeUsage is how much of the file system of a volume is used, as the kubelet of its node has measured it.
type VolumeUsage struct {
	// Capacity and Available are bytes of the file system. A process may write the available ones.
	Capacity, Available int64
	// UsedPercent is the used part of the bytes, or of the inodes if more of these are used.
	UsedPercent int32
	// Measured is when the kubelet measured it.
	Measured time.Time
}

// MaxReserve is the largest reserve.
const MaxReserve = int64(2 << 30)

// Reserves is how many reserves of a volume are free: 0, 1, or 2 for more. A reserve is the free space below which a volume is nearly
// full: the server needs some for its log while it protects itself.
func (u VolumeUsage) Reserves() int64 {
	reserve := max(1, min(u.Capacity/20, MaxReserve))
	return min(2, u.Available/reserve)
}

// NodeUsage is what is known about the volumes of a node.
type NodeUsage struct {
	// Volumes are the claims, as namespace/name.
	Volumes map[string]VolumeUsage
	// Problem is why the last request to the kubelet failed; "" if it did not.
	Problem string
	// Asked is true after the first request.
	Asked bool
}

// PercentUsed is the used part of a total, rounded up: a value of 100 is full.
func PercentUsed(total, free int64) int32 {
	if total <= 0 {
		return 0
	}
	used := max(0, total-free)
	return int32(min(100, (used*100+total-1)/total)) //nolint:gosec // at most 100
}

// exactFrom is the used part from which each percent counts.
const exactFrom = 80

// RoundedUse is a used part in percent that changes rarely while there is enough space.
func RoundedUse(percent int32) int32 {
	if percent < exactFrom {
		return percent / 5 * 5
	}
	return percent
}
