/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/rotation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// decided is the situation with the plans of the subjects that have one. Each is computed once a pass.
type decided struct {
	*situation.Situation
	schedule schedule.Plan
	rotation rotation.Plan
}

// alone is a decision that depends on no plan of a subject.
func alone[T any](decide func(*situation.Situation) T) func(decided) T {
	return func(d decided) T { return decide(d.Situation) }
}

// work is a decision about operations that every pass makes, in any phase. Why is the reason for its place in the list.
type work struct {
	name   string
	decide func(decided) operation.List
	why    string
}

// upkeep is the work for a cluster that is not being deleted, in the order of execution.
var upkeep = []work{
	{"finalizer", alone(finalizer), "without it, a deletion would not be seen"},
	{"credentials", alone(members.Credentials), "no pod starts without its Secret"},
	{"ServiceAccount", alone(members.ServiceAccount), "no pod starts as the account of another owner"},
	{"rights", alone(members.Rights), "members report who is the primary"},
	{"certificate", alone(certificate.Upkeep), "members need it to start"},
	{"size of volumes", alone(sizes), "a full volume may be why members are down"},
	{"attributes of volumes", alone(attributes), "as the size"},
	{"labels of volumes", alone(labels), "they protect volumes from a deletion"},
	{"schedules", func(d decided) operation.List { return d.schedule.Operations }, "they disturb no member, so they wait for no phase"},
	{"rotation", func(d decided) operation.List { return d.rotation.Operations }, "it starts a Job only when all members are ready"},
	{"adoption", alone(adoptions), "members must not start before it"},
	{"contents of volumes", alone(records), "a later operation may stop the member that the record names"},
	{"release of pods", alone(releases), "a pod with a finalizer blocks the drain of its node"},
	{"objects", alone(members.Writes), "they use all of the above"},
	{"connection", alone(members.Connection), "clients get what the members have"},
	{"unwanted objects", alone(unwanted), "nothing uses them now"},
}

// upkeepOfDeletion is the work for a cluster that is being deleted.
var upkeepOfDeletion = []work{
	{"labels of volumes", alone(labels), "a protected volume cannot be deleted"},
	{"contents of volumes", alone(records), "the next cluster of the same name may use the volumes"},
	{"release of pods", alone(releases), "a pod with a finalizer blocks the drain of its node"},
}

func each(all []work, d decided) operation.List {
	var operations operation.List
	for _, w := range all {
		operations = append(operations, w.decide(d)...)
	}
	return operations
}

func finalizer(s *situation.Situation) operation.List {
	return given(!s.HasFinalizer(), operation.AddFinalizer{})
}

func sizes(s *situation.Situation) operation.List {
	all := members.Resizes(s)
	return given(len(all) > 0, operation.ResizeVolumes{Claims: all})
}

func attributes(s *situation.Situation) operation.List {
	all := members.Modifications(s)
	return given(len(all) > 0, operation.ModifyVolumes{Claims: all})
}

func records(s *situation.Situation) operation.List {
	all := members.Records(s)
	return given(len(all) > 0, operation.RecordContents{Claims: all})
}

func labels(s *situation.Situation) operation.List {
	all := members.Labels(s)
	return given(len(all) > 0, operation.LabelVolumes{Claims: all})
}

func adoptions(s *situation.Situation) operation.List {
	all := members.Adoptions(s)
	agreements := members.AdoptedAgreements(s)
	return slices.Concat(given(len(all) > 0, operation.AdoptVolumes{Claims: all}), given(len(agreements) > 0, operation.AdoptAgreements{Agreements: agreements}))
}

func releases(s *situation.Situation) operation.List {
	all := deletion.Releases(s)
	return given(len(all) > 0, operation.ReleasePods{Pods: all})
}

func unwanted(s *situation.Situation) operation.List {
	all := slices.Concat(members.Unwanted(s), members.StaleAgreements(s), members.Obstructing(s))
	return given(len(all) > 0, operation.Delete{Objects: all})
}

func given(needed bool, one operation.Operation) operation.List {
	if !needed {
		return nil
	}
	return operation.List{one}
}
