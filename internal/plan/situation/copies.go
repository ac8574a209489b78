/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A member that stops has every acknowledged write only if no other member accepted one after it. The engine's lock shows that, if the
// engine declares where it is. Otherwise claim 0 records a member only while that holds: before the others can accept a write without that
// member, the operator removes the record.

// Undecided returns from how many members on another member than the recorded one can accept a write: two, or a majority of the voters.
func (s *Situation) Undecided() int32 {
	return state.Undecided(s.Engine, s.Voters())
}

// deciding is how many members are left when each further write needs all of them: one primary, or exactly a majority of the voters.
func (s *Situation) deciding() int32 {
	if s.Consents() {
		return Majority(s.Voters())
	}
	return 1
}

// firstVolume is that of claim 0, which has the record.
func (s *Situation) firstVolume() (v state.Volume, exists bool) {
	return state.First(s.Own, func(v state.Volume) bool { return v.Ordinal == 0 })
}

// Latest is the member whose volume is known to have every acknowledged write: see state.Latest.
func (s *Situation) Latest() (ordinal int32, known bool) {
	first, _ := s.firstVolume()
	return state.Latest(s.Cluster.Name, s.Engine, s.Agreements, first.Contents, state.ExtentOf(s.StatefulSet))
}

// Settled returns the member that has every acknowledged write, because the others can accept none without it. A primary that runs alone
// is one, and a single voter. Of voters that stop, it is the first one while each write needs all that are left, and they are ready: a
// ready member has the writes before.
func (s *Situation) Settled() (pod string, settled bool) {
	if !s.AllNeeded() || s.Ready() != s.live() || s.stale() > 0 {
		return "", false
	}
	if _, found := s.Primary(); s.HasRoles() && !found {
		return "", false
	}
	return s.Members[0].Name, s.Related()
}

// Unlocked reports whether another member may have been the primary after the last one that the operator knows. That one may have looked
// ready when it no longer responded, and only a lock shows that another one took over. It still starts first, because that is right after
// each orderly stop, but no backup of its volume may be the reason to delete the others.
func (s *Situation) Unlocked() bool {
	return engine.HidesLock(s.Engine) && len(s.Own) > 1
}

// AllNeeded reports whether each write needs all members that exist, and no other one starts: one primary, or exactly a majority of the
// voters.
func (s *Situation) AllNeeded() bool {
	live, known := s.Replicas()
	stays := s.Stopping() || live == 1 && s.target(live) <= 1
	return known && live > 0 && live == s.deciding() && int(live) == len(s.Members) && stays && (!s.Consents() || s.Listed())
}

// MayBeStale reports whether the readiness of the members that are left may be older than the stop of the others. A member that no longer
// responds looks ready until its probe has failed, or until Kubernetes notices that its node is lost, and meanwhile the others may have
// accepted a write without it.
func (s *Situation) MayBeStale() bool {
	return s.Consents() && s.Voters() > s.deciding() && s.AllNeeded()
}

// NeededSince is the record of since when each write needs all members that exist.
func (s *Situation) NeededSince() string {
	if _, counts := s.neededFor(); !counts {
		return s.Uptime.String()
	}
	first, _ := s.firstVolume()
	return first.NeededSince
}

// neededFor is how long each write has needed all members that exist, as far as the record of claim 0 counts.
func (s *Situation) neededFor() (elapsed time.Duration, counts bool) {
	first, _ := s.firstVolume()
	elapsed, known := s.Uptime.Since(first.NeededSince)
	changes, stays := state.ExtentOf(s.StatefulSet).Since(first.Term)
	if !known || !stays || changes > 0 {
		return 0, false
	}
	return elapsed, true
}

// stale is for how long the readiness of the members that are left may be older than the stop of the others.
func (s *Situation) stale() time.Duration {
	if !s.MayBeStale() {
		return 0
	}
	slowest := time.Duration(0)
	for _, m := range s.Members {
		slowest = max(slowest, m.UnreadyAfter)
	}
	if slowest == state.Never {
		return state.Never
	}
	elapsed, _ := s.neededFor()
	return max(0, nodeLostAfter+slowest-elapsed)
}

// Unprobed is the first member without a readiness probe, while the readiness of all decides whether one has every acknowledged write; ""
// for none.
func (s *Situation) Unprobed() string {
	m, _ := state.First(s.Members, func(m state.Member) bool { return m.UnreadyAfter == state.Never })
	if _, latest := s.Latest(); latest || !s.MayBeStale() {
		return ""
	}
	return m.Name
}

// nodeLostAfter is how long Kubernetes waits for a node until its pods are not ready: 50 s (--node-monitor-grace-period), and the time to
// say so.
const nodeLostAfter = time.Minute

// Listed reports whether the list of voters is known to have so many members that a majority of the recorded number is exactly a majority
// of the list. The list may be smaller than recorded, and then fewer members accept a write. All of the needed members were ready together
// since they began to stop, while none was being removed: claim 0 has the term of the StatefulSet then.
func (s *Situation) Listed() bool {
	if !s.Stopping() && s.live() > 1 {
		return false
	}
	first, _ := s.firstVolume()
	now := state.ExtentOf(s.StatefulSet)
	_, stays := now.Since(first.Term)
	return s.listed() <= s.deciding() || s.Ready() >= s.listed() && s.LeavingIn() == 0 || stays && now.Replicas <= s.Voters()
}

// listed is the lowest number of voters whose majority is that of the recorded number.
func (s *Situation) listed() int32 { return 2 * (s.deciding() - 1) }

// Lists reports whether claim 0 has to record that, because a majority alone does not show it.
func (s *Situation) Lists() bool { return s.Consents() && s.listed() > s.deciding() && s.Listed() }

// Unready returns the first of the voters that have to be ready before another one stops, so that one of them has every acknowledged
// write; "" for none. Below a majority, waiting would change nothing.
func (s *Situation) Unready() string {
	live, known := s.Replicas()
	if _, latest := s.Latest(); !s.Consents() || !known || live < s.deciding() || latest {
		return ""
	}
	needed := s.deciding()
	if !s.Listed() {
		needed = s.listed()
	}
	for ordinal := range needed {
		if _, ready := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal && m.Serving(s.At) }); !ready {
			return naming.Member(s.Cluster.Name, ordinal)
		}
	}
	if !s.Listed() { // the last one is being removed
		return naming.Member(s.Cluster.Name, s.Voters()-1)
	}
	return ""
}

// Unsettled is until when the members that are left have to stay ready before the next one stops, so that one of them has every
// acknowledged write, with the text for users; waits is false if they need not.
func (s *Situation) Unsettled() (left time.Duration, why string, waits bool) {
	first, exists := s.firstVolume()
	records := exists && !first.Terminating && !first.IsFilling()
	left = s.stale()
	if _, latest := s.Latest(); latest || !records || s.Ready() != s.live() || left <= 0 || left == state.Never {
		return 0, "", false
	}
	until := s.At.Add(left).UTC().Format(time.RFC3339)
	return left, fmt.Sprintf("the last members stop at %s: if they are ready then, they have every acknowledged write", until), true
}

// StopAwaitsData reports whether a stop waits until one of the members that are left has every acknowledged write: a hibernation, and a
// deletion with a final backup.
func (s *Situation) StopAwaitsData() bool {
	return !s.Deleting() || !s.Skips() &&
		slices.ContainsFunc(s.Cluster.Spec.Deletion.Hooks, func(h dbv1.DeletionHook) bool { return Fences(s.Cluster, h) })
}

// Fences reports whether the members stop before the backup of a hook, because their volumes are deleted after it.
func Fences(cluster *dbv1.DatabaseCluster, hook dbv1.DeletionHook) bool {
	ephemeral := cluster.Spec.Storage.Ephemeral != nil && *cluster.Spec.Storage.Ephemeral
	return hook.Type == dbv1.HookBackup && cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete && !ephemeral
}

// Skips reports whether the user skips the hooks that have not succeeded.
func (s *Situation) Skips() bool {
	return s.Cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true"
}

// Settling is how long a member that hibernates may still wait for another one to be ready, so that one of them has every acknowledged
// write; 0 if it need not wait. A backup of the hibernated cluster needs that.
func (s *Situation) Settling() time.Duration {
	pod := s.Unready()
	m, exists := state.First(s.Members, func(m state.Member) bool { return m.Name == pod })
	live, _ := s.Replicas()
	if live != s.deciding() || !exists || m.Stuck {
		return 0
	}
	return max(0, voterTimeout-s.At.Sub(m.Down()))
}

// voterTimeout is how long a hibernation waits for a voter that is not ready.
const voterTimeout = time.Minute

// Unsettles reports whether another member than the recorded one can accept a write now, or after the next start if members may start.
func (s *Situation) Unsettles(starts bool) bool {
	running := s.live()
	if starts {
		running = max(running, s.target(running))
	}
	return running >= s.Undecided()
}

// unrecorded starts no further member while claim 0 still records that one of them has everything.
func (s *Situation) unrecorded(target, live int32) int32 {
	first, _ := s.firstVolume()
	if first.Primary == "" || !s.Related() || engine.LockOf(s.Engine) != nil || target < s.Undecided() {
		return target
	}
	return live
}
