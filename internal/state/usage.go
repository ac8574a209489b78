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
	// Ahead is how many bytes clients write before something follows from the next measurement, if they go on as before this one; 0 if that
	// is not known.
	Ahead int64
}

// MaxMargin is the largest margin.
const MaxMargin = int64(2 << 30)

// margin is the free space that a server needs for its log while it protects itself.
func (u VolumeUsage) margin() int64 { return max(1, min(u.Capacity/20, MaxMargin)) }

// Reserve is the free space below which a volume is nearly full: the margin, or what clients write ahead. A short burst shall not make a
// database with much free space read-only.
func (u VolumeUsage) Reserve() int64 { return max(u.margin(), min(u.Ahead, u.Capacity/20*3)) }

// Room is how much free space a volume has.
type Room int

// Values of Room, from less to more.
const (
	// NearlyFull is less than the reserve, or hardly any inodes. Clients shall not write.
	NearlyFull Room = iota
	// Scarce is so little that clients who began to write would soon have to stop again.
	Scarce
	// Enough is more than that.
	Enough
)

// Room is how much free space the volume has. The part of the inodes is known if it is larger than that of the bytes.
func (u VolumeUsage) Room() Room {
	inodes := int32(0)
	if u.UsedPercent > PercentUsed(u.Capacity, u.Available) {
		inodes = u.UsedPercent
	}
	switch {
	case u.Available < u.Reserve(), inodes >= 99:
		return NearlyFull
	case u.Available < u.Reserve()+u.margin(), inodes >= 95:
		return Scarce
	default:
		return Enough
	}
}

// Needs is by how many bytes the volume has to grow to have enough space.
func (u VolumeUsage) Needs() int64 {
	// The margin is at most 5% of the larger volume, too.
	least := max(
		min((u.Capacity/10-u.Available)/9*10, 2*MaxMargin-u.Available),
		min((u.Reserve()+u.Capacity/20-u.Available)/19*20, u.Reserve()+MaxMargin-u.Available))
	return max(0, least+least/10) // a file system grows less than its volume
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
