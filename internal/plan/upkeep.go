/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/archiver"
	"github.com/dbcluster/databasecluster-operator/internal/autoresize"
	"github.com/dbcluster/databasecluster-operator/internal/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/companions"
	"github.com/dbcluster/databasecluster-operator/internal/connection"
	"github.com/dbcluster/databasecluster-operator/internal/credentials"
	"github.com/dbcluster/databasecluster-operator/internal/drain"
	"github.com/dbcluster/databasecluster-operator/internal/identity"
	"github.com/dbcluster/databasecluster-operator/internal/monitoring"
	"github.com/dbcluster/databasecluster-operator/internal/network"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/replacement"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protection"
	"github.com/dbcluster/databasecluster-operator/internal/rotation"
	"github.com/dbcluster/databasecluster-operator/internal/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/space"
	"github.com/dbcluster/databasecluster-operator/internal/storage"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// work is a decision that every pass makes, in any phase: of the core, or of a subject. Why is the reason for its place in the list.
type work struct {
	name string
	subject.Subject
	why string
}

// core is a decision of the core about operations, while a cluster is not being deleted.
func core(decide func(*situation.Situation) operation.List) subject.Subject {
	return always(func(s *situation.Situation) operation.List {
		if s.Deleting() {
			return nil
		}
		return decide(s)
	})
}

// always is a decision of the core about operations that a deletion needs, too.
func always(decide func(*situation.Situation) operation.List) subject.Subject {
	return subject.Subject{Decide: func(s *situation.Situation) subject.Decision { return subject.Decision{Operations: decide(s)} }}
}

// upkeep is the work of a pass, in the order of execution. Each subject has one line.
var upkeep = []work{
	{"finalizer", core(finalizer), "without it, a deletion would not be seen"},
	{"credentials", credentials.Subject, "no pod starts without its Secret"},
	{"identity", identity.Subject, "no pod starts as the account of another owner, and members report who is the primary"},
	{"agreements", core(members.Agreements), "members keep there who is the primary"},
	{"storage", storage.Subject, "a full volume may be why members are down, and its stall comes before a failed renewal"},
	{"space", space.Subject, "it decides about the size that the next pass requests, and its Job must not wait for members"},
	{"automatic resources", autoresize.Subject, "it decides about the requests that the next pass renders, and no member waits for it"},
	{"certificate", certificate.Subject, "members need it to start"},
	{"protection", protection.Subject, "its labels protect volumes from a deletion"},
	{"schedules", schedule.Subject, "they disturb no member, so they wait for no phase"},
	{"rotation", rotation.Subject, "it starts a Job only when all members are ready"},
	{"adoption", core(adoptions), "members must not start before it"},
	{"contents of volumes", always(members.Records), "a later operation may stop the member that the record names"},
	{"release of pods", always(deletion.Releases), "a pod with a finalizer blocks the drain of its node"},
	{"network", network.Subject, "no member starts before the policy that restricts who connects"},
	{"drain", drain.Subject, "the budget of the primary is deleted before the other one includes it"},
	{"objects", core(members.Writes), "they use all of the above"},
	{"connection", connection.Subject, "clients get what the members have"},
	{"companions", companions.Subject, "actions find there whose clients they can pause, and no member waits for it"},
	{"monitoring", monitoring.Subject, "it disturbs no member, and no member waits for it"},
	{"archive", archiver.Subject, "it connects to members"},
	{"databases and users", accounts.Subject, "its Job connects to the primary, and no member waits for it"},
	{"replacement", replacement.Upkeep, "it fills volumes that no member uses, so it waits for no phase"},
	{"refused requests", core(members.Refused), "a record disturbs no member, so it waits for no phase"},
	{"unwanted objects", core(unwanted), "nothing uses them now"},
}

// Reads are those of the subjects, in the order of the list.
func Reads() []subject.Read {
	var all []subject.Read
	for _, w := range upkeep {
		if w.Read != nil {
			all = append(all, w.Read)
		}
	}
	return all
}

// Transitions are the changes of conditions of the subjects that are events.
func Transitions() []operation.Transition {
	return gather(upkeep, func(w work) []operation.Transition { return w.Transitions })
}

// Watches are those of the subjects.
func Watches() subject.Watches {
	var all subject.Watches
	for _, w := range upkeep {
		all.Objects, all.Indexes = append(all.Objects, w.Objects...), append(all.Indexes, w.Indexes...)
	}
	return all
}

// decisions are those of the subjects. A pass asks each of them once.
type decisions []subject.Decision

func decide(s *situation.Situation) decisions {
	all := make(decisions, 0, len(upkeep))
	for _, w := range upkeep {
		all = append(all, w.Decide(s))
	}
	return all
}

// gather concatenates what the elements have, in their order.
func gather[E, T any, All ~[]T](from []E, of func(E) All) All {
	var all All
	for _, one := range from {
		all = append(all, of(one)...)
	}
	return all
}

func (d decisions) operations() operation.List {
	return gather(d, func(one subject.Decision) operation.List { return one.Operations })
}

// stalled is the first cause for which the user must act; nil for none.
func (d decisions) stalled() *situation.Stall {
	for _, one := range d {
		if one.Stalled != nil {
			return one.Stalled
		}
	}
	return nil
}

// await is the first that the cluster waits for before it is up to date, or deleted.
func (d decisions) await() phase.Outcome {
	return d.first(func(one subject.Decision) phase.Outcome { return one.Await })
}

// first is the first outcome that waits.
func (d decisions) first(of func(subject.Decision) phase.Outcome) phase.Outcome {
	for _, one := range d {
		if outcome := of(one); outcome.Waits() {
			return outcome
		}
	}
	return phase.Over
}

// pending reports whether the objects of a subject do not match the spec yet.
func (d decisions) pending() bool {
	return slices.ContainsFunc(d, func(one subject.Decision) bool { return one.Pending })
}

// finish is the first that a deletion waits for before its hooks.
func (d decisions) finish() phase.Outcome {
	return d.first(func(one subject.Decision) phase.Outcome { return one.Finish })
}

func (d decisions) leftovers() []operation.Removal {
	return gather(d, func(one subject.Decision) []operation.Removal { return one.Leftovers })
}

func (d decisions) requeueAfter() time.Duration {
	var soonest time.Duration
	for _, one := range d {
		soonest = situation.Sooner(soonest, one.RequeueAfter)
	}
	return soonest
}

// refuses is the first reason for which clients cannot write.
func (d decisions) refuses() string {
	for _, one := range d {
		if one.Refuses != "" {
			return one.Refuses
		}
	}
	return ""
}

func (d decisions) reports() []subject.Report {
	var all []subject.Report
	for _, one := range d {
		if one.Report != nil {
			all = append(all, one.Report)
		}
	}
	return all
}

// finalizer adds the operator's finalizer before any object is created. A cluster without a hook gets it, too: a hook, a volume policy or
// an agreement may be added a moment before the deletion, and without the finalizer no pass would see the cluster again.
func finalizer(s *situation.Situation) operation.List {
	if s.HasFinalizer() {
		return nil
	}
	return operation.List{operation.AddFinalizer()}
}

func adoptions(s *situation.Situation) operation.List {
	return slices.Concat(members.Relabeled(s), members.Adoptions(s), members.AdoptedAgreements(s))
}

func unwanted(s *situation.Situation) operation.List {
	return operation.Deletion(slices.Concat(members.StaleAgreements(s), members.Obstructing(s))...)
}
