/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"math"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Members of the topology Consensus have a list of each other, and decide by a majority of that list, whatever spec.replicas is. Only
// the action memberRemove removes one. So the claims, which outlive the cluster, record how many members the list may have. Each claim
// does, and the highest number counts, so the record outlives any of them. The operator raises the number before a member starts that is
// not in the list. It lowers the number after a member has left and no longer exists.

// Voters is how many members the list may have, also those that do not run. Without a record, members with a volume may be in the list.
func (s *Situation) Voters() int32 {
	live := s.live()
	if recorded := s.RecordedVoters(); recorded > 0 || live > 0 {
		return max(recorded, live)
	}
	return s.withVolume(math.MaxInt32)
}

// Peers is how many members of one database there are: those that may be in the list, or, without a list, those that run or should run now.
func (s *Situation) Peers() int32 {
	if s.Consents() {
		return s.Voters()
	}
	return s.live()
}

// RecordedVoters is the number that the claims record; 0 if it is unknown.
func (s *Situation) RecordedVoters() int32 {
	var most int32
	for _, v := range s.Own {
		if !v.Terminating {
			most = max(most, v.Voters)
		}
	}
	return most
}

// withVolume is how many members start so that each one below a limit with a volume is among them.
func (s *Situation) withVolume(below int32) int32 {
	number := int32(1)
	for _, v := range s.Own {
		if v.Ordinal < below {
			number = max(number, v.Ordinal+1)
		}
	}
	return number
}

// NextVoters is how many members the list may have after the next one has started.
func (s *Situation) NextVoters() int32 { return max(s.Voters(), s.target(s.live())) }

// recorded limits a number of members to those that the claims record. A paused cluster only reports that it would start more.
func (s *Situation) recorded(target int32) int32 {
	if number := s.RecordedVoters(); s.Consents() && number > 0 && !s.Cluster.Spec.Paused {
		return min(target, number)
	}
	return target
}

// oneByOne lets members that may be in the list and have a volume start at once, and others one by one: each changes the list. Members
// above spec.replicas start with the others, because without them the list may have no majority, not even to remove them.
func (s *Situation) oneByOne(live int32) int32 {
	if s.Wanted == 0 {
		return 0
	}
	if live >= s.Wanted {
		return s.Wanted
	}
	if s.LeavingIn() > 0 {
		return live
	}
	together := s.withVolume(s.Voters())
	if live >= together && s.Ready() >= live {
		return live + 1
	}
	return together
}

// leaveDelay is how long a member that was removed may still look ready.
const leaveDelay = 15 * time.Second

// LeavingIn is the time until the readiness of a member shows that the others have removed it; 0 if none is being removed. If the user
// takes a scale-in back meanwhile, that member joins again, and no other one may join at the same time.
func (s *Situation) LeavingIn() time.Duration {
	var left time.Duration
	for _, t := range s.Jobs {
		if t.Component != dbv1.ComponentMemberRemove {
			continue
		}
		if !t.Ended() {
			return leaveDelay
		}
		left = max(left, leaveDelay-t.EndedFor(s.At))
	}
	return left
}
