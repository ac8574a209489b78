/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Values of fields that are not set.
const (
	defaultAtPercent       = 80
	defaultByPercent       = 20
	defaultCooldownSeconds = 6 * 60 * 60
)

// at is the used part of a volume from which it fills.
func at(cluster *dbv1.DatabaseCluster) int32 {
	if grows := cluster.Spec.Storage.AutoGrow; grows != nil {
		return cmp.Or(grows.AtPercent, defaultAtPercent)
	}
	return defaultAtPercent
}

func cooldown(grows *dbv1.ClusterAutoGrow) time.Duration {
	seconds := int32(defaultCooldownSeconds)
	if grows.CooldownSeconds != nil {
		seconds = *grows.CooldownSeconds
	}
	return time.Duration(seconds) * time.Second
}

// verdict is what a pass knows about the space, and decides about the size of the volumes.
type verdict struct {
	// status is "" if nothing is known yet: the condition stays as it was.
	status          metav1.ConditionStatus
	reason, message string
	// growth is the decision to record; nil to keep the recorded one.
	growth *dbv1.ClusterStorageGrowth
	// left is the time until the verdict changes without an event; 0 for never.
	left time.Duration
}

func pressure(reason, format string, values ...any) verdict {
	return verdict{status: metav1.ConditionTrue, reason: reason, message: fmt.Sprintf(format, values...)}
}

// recorded is the last growth; nil for none.
func recorded(cluster *dbv1.DatabaseCluster) *dbv1.ClusterStorageGrowth {
	if cluster.Status.Storage == nil {
		return nil
	}
	return cluster.Status.Storage.Growth
}

// judge decides about the space. A volume that fills is more important than one whose use is unknown, and an unknown use is not enough
// space.
func judge(s *situation.Situation, f Facts, l insight) verdict {
	if !f.Asked {
		return verdict{}
	}
	if given := giveUp(s); given != nil {
		return cannotExpand(given)
	}
	fullest, known := f.fullest()
	unknown := strings.Join(f.Unknown, "; ")
	switch {
	case known && fullest.UsedPercent >= at(s.Cluster):
		return fills(s, f, l)
	case !f.Begun:
		return verdict{}
	case unknown != "":
		return verdict{status: metav1.ConditionUnknown, reason: dbv1.ReasonUsageUnknown, message: "the use of a volume is unknown: " + unknown}
	case !known && len(s.Members) > 0:
		return verdict{}
	case !known:
		return verdict{status: metav1.ConditionUnknown, reason: dbv1.ReasonUsageUnknown, message: "no member runs, so no volume is measured"}
	default:
		return verdict{status: metav1.ConditionFalse, reason: dbv1.ReasonEnoughSpace, message: fmt.Sprintf(
			"at most %d%% of a volume is used", (state.RoundedUse(fullest.UsedPercent)/5+1)*5)}
	}
}

// uses names the measurement of a volume: the first one with this number, so that the text changes only with it.
func uses(s *situation.Situation, m Measured) string {
	measured := m.Measured
	if decided := s.Cluster.Status.Storage; decided != nil && decided.Usage != nil && decided.Usage.Claim == m.Claim &&
		decided.Usage.UsedPercent == m.UsedPercent {
		measured = decided.Usage.Time.Time
	}
	return fmt.Sprintf("PersistentVolumeClaim %s is used to %d%%, measured at %s", m.Claim, m.UsedPercent, measured.UTC().Format(time.RFC3339))
}

// fills decides about the fullest volume, which fills.
func fills(s *situation.Situation, f Facts, l insight) verdict {
	fullest := l.fullest
	grows, seen, size := s.Cluster.Spec.Storage.AutoGrow, uses(s, fullest), s.Cluster.Spec.Storage.Size
	last := recorded(s.Cluster)
	switch {
	case fullest.shared():
		return pressure(dbv1.ReasonSharedFileSystem, "%s, but its file system is larger than the claim, so others use it too. Free space on it, "+
			"or use a StorageClass whose volumes have a file system of their own", seen)
	case grows == nil:
		return pressure(dbv1.ReasonFilling, "%s. Raise spec.storage.size, or set spec.storage.autoGrow", seen)
	case growing(s, fullest, last):
		return pressure(dbv1.ReasonGrowing, "%s; the volumes grow to %s", seen, size.String())
	case s.Cluster.Spec.Paused:
		return pressure(dbv1.ReasonFilling, "%s, and spec.paused is true. Resume the cluster", seen)
	case s.Restoration != nil || s.Switches() || s.Wanted == 0:
		return pressure(dbv1.ReasonFilling, "%s. The volumes grow after the current operation", seen)
	default:
		return enlarge(s, f, l, last)
	}
}

// enlarge decides about a volume that fills and may grow.
func enlarge(s *situation.Situation, f Facts, l insight, last *dbv1.ClusterStorageGrowth) verdict {
	grows, seen, size := s.Cluster.Spec.Storage.AutoGrow, uses(s, l.fullest), s.Cluster.Spec.Storage.Size
	is, keeper := cause(s, l)
	switch {
	case f.Expansion != "":
		return pressure(dbv1.ReasonCannotExpand, "%s, and %s. Set that field, or free space", seen, f.Expansion)
	case size.Cmp(grows.Limit) >= 0:
		return pressure(dbv1.ReasonLimitReached, "%s, and the volumes have %s. Raise spec.storage.autoGrow.limit, which is %s, or free space",
			seen, size.String(), grows.Limit.String())
	case grownFor(s, keeper, last):
		return pressure(dbv1.ReasonLogKept, "%s, and the volumes have grown once for the log that %s. %s",
			seen, keeps(*keeper), remedy(s, keeper))
	case is == dbv1.StorageCauseUnknown && l.awaits(last):
		return pressure(dbv1.ReasonLogKept, "%s, and the volumes have grown for the log that %s. "+
			"They grow again if Job %s finds that it was read", seen, keeps(*last.KeptFor), naming.MeasureJob(s.Cluster.Name, s.Cluster.UID))
	default:
		return grow(s, l, last)
	}
}

// grow decides to grow, unless a growth was a short time ago. One that is nearly full does not wait: the limit bounds what that costs, and
// a provider that refuses is reported.
func grow(s *situation.Situation, l insight, last *dbv1.ClusterStorageGrowth) verdict {
	grows, seen := s.Cluster.Spec.Storage.AutoGrow, uses(s, l.fullest)
	if last != nil {
		left := last.Time.Add(cooldown(grows)).Sub(s.At)
		if waits := left > 0 && (!l.fullest.nearlyFull() || last.Refused != ""); waits {
			v := pressure(dbv1.ReasonCooldown, "%s; the volumes may grow again at %s", seen,
				last.Time.Add(cooldown(grows)).UTC().Format(time.RFC3339))
			if last.Refused != "" {
				v = cannotExpand(last)
			}
			v.left = left
			return v
		}
	}
	size := larger(s.Cluster.Spec.Storage.Size, cmp.Or(grows.ByPercent, defaultByPercent), grows.Limit)
	v := pressure(dbv1.ReasonGrowing, "%s; the volumes grow to %s", seen, size.String())
	v.growth = &dbv1.ClusterStorageGrowth{Size: size, Time: metav1.NewTime(s.At), Usage: l.fullest.usage()}
	v.growth.Cause, v.growth.KeptFor = cause(s, l)
	return v
}

// growing reports whether a growth has not shown its effect: a volume is smaller than requested, or the measurement is from before it.
func growing(s *situation.Situation, fullest Measured, last *dbv1.ClusterStorageGrowth) bool {
	for _, v := range s.InUse() {
		if !v.Capacity.IsZero() && v.Capacity.Cmp(s.Cluster.Spec.Storage.Size) < 0 && !s.CannotGrow(v) {
			return true
		}
	}
	if last == nil || last.Refused != "" {
		return false
	}
	same := fullest.Claim == last.Usage.Claim && fullest.VolumeUsage.Capacity <= last.Usage.CapacityBytes
	return same || !fullest.Measured.After(last.Time.Time)
}

// giveUp returns the growth as it is recorded after the storage has refused it, or after a lower limit; nil if there is none. The request
// of the claims stays, so a storage that gets room expands them.
func giveUp(s *situation.Situation) *dbv1.ClusterStorageGrowth {
	last, grows := recorded(s.Cluster), s.Cluster.Spec.Storage.AutoGrow
	if last == nil || last.Size.Cmp(s.Declared.Spec.Storage.Size) <= 0 {
		return nil
	}
	largest, refused := capacities(s, last)
	lowered := grows != nil && grows.Limit.Cmp(last.Size) < 0
	if lowered && grows.Limit.Cmp(largest) > 0 {
		largest = grows.Limit
	}
	if refused == "" && !lowered || largest.IsZero() || largest.Cmp(last.Size) >= 0 {
		return nil
	}
	given := *last
	given.Size, given.Refused, given.Time = largest, refused, metav1.NewTime(s.At)
	return &given
}

// capacities returns the largest capacity of a volume, and why one cannot get the size of a growth; "" if all can.
func capacities(s *situation.Situation, last *dbv1.ClusterStorageGrowth) (largest resource.Quantity, refused string) {
	for _, v := range s.InUse() {
		if v.Capacity.Cmp(largest) > 0 {
			largest = v.Capacity
		}
		if s.CannotGrow(v) && refused == "" {
			refused = fmt.Sprintf("PersistentVolumeClaim %s cannot be expanded to %s: %s", v.Claim, last.Size.String(),
				cmp.Or(v.Resizing, "the storage gives no reason"))
		}
	}
	return largest, refused
}

func cannotExpand(last *dbv1.ClusterStorageGrowth) verdict {
	v := pressure(dbv1.ReasonCannotExpand, "%s. Give the storage room, or free space", last.Refused)
	if last.Refused == "" {
		v = pressure(dbv1.ReasonLimitReached, "the volumes do not grow above spec.storage.autoGrow.limit")
	}
	v.growth = last
	return v
}

// units are those to which a size is rounded up.
const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// larger is the next size of volumes.
func larger(size resource.Quantity, byPercent int32, limit resource.Quantity) resource.Quantity {
	next, unit := size.Value()+size.Value()/100*int64(byPercent), int64(mebi)
	if next >= 10*gibi {
		unit = gibi
	}
	next = (next + unit - 1) / unit * unit
	if next >= limit.Value() {
		return limit
	}
	return *resource.NewQuantity(next, resource.BinarySI)
}
