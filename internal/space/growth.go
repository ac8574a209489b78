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
	if before := adopted(s); before != nil {
		return verdict{growth: before}
	}
	if given := giveUp(s, f); given != nil {
		return cannotExpand(given)
	}
	_, known := f.fullest()
	_, keeps := kept(s, f)
	unknown := strings.Join(f.Unknown, "; ")
	switch {
	case known && l.fullest.UsedPercent >= at(s.Cluster), keeps:
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
			"at most %d%% of a volume is used", (state.RoundedUse(l.fullest.UsedPercent)/5+1)*5)}
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
		v := pressure(dbv1.ReasonGrowing, "%s; the volumes grow to %s", seen, size.String())
		v.left = fails(s, last)
		return v
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
	grows, seen := s.Cluster.Spec.Storage.AutoGrow, uses(s, l.fullest)
	size, _ := from(s, f, l.fullest)
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
	case is == dbv1.StorageCauseUnknown && l.awaits(last) && !urgent(s, f, l.fullest):
		return pressure(dbv1.ReasonLogKept, "%s, and the volumes have grown for the log that %s. "+
			"They grow again if Job %s finds that it was read", seen, keeps(*last.KeptFor), naming.MeasureJob(s.Cluster.Name, s.Cluster.UID))
	default:
		return grow(s, f, l, last)
	}
}

// grow decides to grow, unless a growth was a short time ago. A volume that is nearly full, or that keeps a database read-only, does not
// wait: the limit bounds what that costs, and a provider that refuses is reported.
func grow(s *situation.Situation, f Facts, l insight, last *dbv1.ClusterStorageGrowth) verdict {
	grows, seen := s.Cluster.Spec.Storage.AutoGrow, uses(s, l.fullest)
	if last != nil {
		left := last.Time.Add(cooldown(grows)).Sub(s.At)
		if waits := left > 0 && (!urgent(s, f, l.fullest) || concerned(l.fullest, last)); waits {
			v := pressure(dbv1.ReasonCooldown, "%s; the volumes may grow again at %s", seen,
				last.Time.Add(cooldown(grows)).UTC().Format(time.RFC3339))
			if last.Refused != "" {
				v = cannotExpand(last)
			}
			v.left = left
			return v
		}
	}
	size, least := from(s, f, l.fullest)
	size = larger(size, cmp.Or(grows.ByPercent, defaultByPercent), least, grows.Limit)
	v := pressure(dbv1.ReasonGrowing, "%s; the volumes grow to %s", seen, size.String())
	v.growth = &dbv1.ClusterStorageGrowth{Size: size, Time: metav1.NewTime(s.At), Usage: l.fullest.usage()}
	v.growth.Cause, v.growth.KeptFor = cause(s, l)
	return v
}

func cannotExpand(last *dbv1.ClusterStorageGrowth) verdict {
	v := pressure(dbv1.ReasonCannotExpand, "%s. Give the storage room, or free space", last.Refused)
	if last.Refused == "" {
		v = pressure(dbv1.ReasonLimitReached, "the volumes do not grow above spec.storage.autoGrow.limit")
	}
	v.growth = last
	return v
}

func urgent(s *situation.Situation, f Facts, m Measured) bool {
	_, keeps := kept(s, f)
	return keeps || m.Room() == state.NearlyFull
}

// from is the size from which the volumes grow, and by how much at least. One may be larger than what the cluster asks for, because a user
// has enlarged it, or a previous cluster has retained it: a growth to a smaller size would change nothing.
func from(s *situation.Situation, f Facts, fullest Measured) (size resource.Quantity, least int64) {
	size, filling := s.Cluster.Spec.Storage.Size, []Measured{fullest}
	if m, keeps := kept(s, f); keeps {
		filling = append(filling, m)
	}
	for _, m := range filling {
		least = max(least, m.Needs())
		if m.Volume.Capacity.Cmp(size) > 0 {
			size = m.Volume.Capacity
		}
	}
	return size, least
}

// units are those to which a size is rounded up.
const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// larger is the next size of volumes: by at least so many bytes.
func larger(size resource.Quantity, byPercent int32, least int64, limit resource.Quantity) resource.Quantity {
	next, unit := size.Value()+max(size.Value()/100*int64(byPercent), least), int64(mebi)
	if next >= 10*gibi {
		unit = gibi
	}
	next = (next + unit - 1) / unit * unit
	if next >= limit.Value() {
		return limit
	}
	return *resource.NewQuantity(next, resource.BinarySI)
}
