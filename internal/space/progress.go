/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// patience is how long a growth may have no effect on the volume of a member that runs.
const patience = 15 * time.Minute

// maxRefused is the length of the field in the status.
const maxRefused = 4200

// growing reports whether a growth has not shown its effect on the fullest volume: it is smaller than requested, or the measurement is from
// before the growth. Another volume may be slower: its member may be down.
func growing(s *situation.Situation, fullest Measured, last *dbv1.ClusterStorageGrowth) bool {
	if smaller(fullest.Volume, s.Cluster.Spec.Storage.Size.Value()) && !s.CannotGrow(fullest.Volume) {
		return true
	}
	if last == nil || last.Refused != "" {
		return false
	}
	return unshown(fullest, last) || !fullest.Measured.After(last.Time.Time)
}

// smaller reports whether a volume is bound and has another size than a larger one.
func smaller(v state.Volume, size int64) bool {
	return !v.Capacity.IsZero() && v.Capacity.Value() < size
}

// unshown reports whether the file system that a growth was decided for is not larger yet.
func unshown(m Measured, last *dbv1.ClusterStorageGrowth) bool {
	return m.Claim == last.Usage.Claim && m.VolumeUsage.Capacity <= last.Usage.CapacityBytes
}

// fails is the time until a growth without an effect has failed; 0 for never.
func fails(s *situation.Situation, last *dbv1.ClusterStorageGrowth) time.Duration {
	if last == nil {
		return 0
	}
	return max(0, last.Time.Add(patience).Sub(s.At))
}

// giveUp returns the growth as it is recorded after it has failed, or after a lower limit; nil if there is none.
func giveUp(s *situation.Situation, f Facts) *dbv1.ClusterStorageGrowth {
	last := recorded(s.Cluster)
	if last == nil || last.Size.Cmp(s.Declared.Spec.Storage.Size) <= 0 {
		return nil
	}
	if why := failed(s, f, last); why != "" {
		return ended(s, last, why)
	}
	return lowered(s, last)
}

// failed is why a volume does not get the size of a growth; "" if all can.
func failed(s *situation.Situation, f Facts, last *dbv1.ClusterStorageGrowth) string {
	for _, v := range s.InUse() {
		switch is := smaller(v, last.Size.Value()); {
		case is && s.CannotGrow(v):
			return fmt.Sprintf("PersistentVolumeClaim %s cannot be expanded to %s: %s", v.Claim, last.Size.String(),
				cmp.Or(v.Resizing, "the storage gives no reason"))
		case is && overdue(s, v, last):
			return fmt.Sprintf("PersistentVolumeClaim %s has not grown to %s within %d minutes: %s", v.Claim, last.Size.String(),
				int(patience.Minutes()), cmp.Or(v.Resizing, "the storage gives no reason"))
		}
	}
	for _, m := range f.Measured {
		if last.Refused == "" && unshown(m, last) && overdue(s, m.Volume, last) {
			return fmt.Sprintf("the file system of PersistentVolumeClaim %s has not grown within %d minutes", m.Claim, int(patience.Minutes()))
		}
	}
	return ""
}

// overdue reports whether a volume had enough time for a growth. A file system may be expanded only while its member runs.
func overdue(s *situation.Situation, v state.Volume, last *dbv1.ClusterStorageGrowth) bool {
	m, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == v.Ordinal && !m.Terminating })
	return runs && !s.Cluster.Spec.Paused && s.At.Sub(last.Time.Time) >= patience && s.At.Sub(m.Created.Time) >= patience
}

// ended is a growth as it is recorded after it has failed, with the size that all volumes have: new members do not ask for more. The
// request of the claims stays, so a storage that gets room expands them.
func ended(s *situation.Situation, last *dbv1.ClusterStorageGrowth, why string) *dbv1.ClusterStorageGrowth {
	given := *last
	given.Refused, given.Time = pods.Head(why, maxRefused), metav1.NewTime(s.At)
	for _, v := range s.InUse() {
		if smaller(v, given.Size.Value()) {
			given.Size = v.Capacity
		}
	}
	return &given
}

// lowered returns a growth with the size that the volumes have, or with a lower limit; nil if there is none.
func lowered(s *situation.Situation, last *dbv1.ClusterStorageGrowth) *dbv1.ClusterStorageGrowth {
	grows := s.Cluster.Spec.Storage.AutoGrow
	if grows == nil || grows.Limit.Cmp(last.Size) >= 0 {
		return nil
	}
	given := *last
	given.Size, given.Refused, given.Time = grows.Limit, "", metav1.NewTime(s.At)
	for _, v := range s.InUse() {
		if v.Capacity.Cmp(given.Size) > 0 {
			given.Size = v.Capacity
		}
	}
	if given.Size.Cmp(last.Size) >= 0 {
		return nil
	}
	return &given
}

// concerned reports whether the last growth has failed for a volume, and not only for others.
func concerned(m Measured, last *dbv1.ClusterStorageGrowth) bool {
	return last.Refused != "" && m.Volume.Capacity.Cmp(last.Size) <= 0
}

// refused returns the growth as it is recorded after the API server has refused it; nil if it has not.
func refused(s *situation.Situation, e subject.Executed) *dbv1.ClusterStorageGrowth {
	last := recorded(s.Cluster)
	if last == nil || e.RefusedDecision == nil {
		return nil
	}
	first, _, _ := strings.Cut(e.RefusedDecision.Error(), "\n") // each volume has one
	return ended(s, last, first)
}
