/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Agreements are the writes of the objects in which members keep their agreement. Those of a previous cluster of the same name are adopted
// or deleted first: see AdoptedAgreements and StaleAgreements.
func Agreements(s *situation.Situation) operation.List {
	if !engine.Identifies(s.Engine) || s.ForeignServiceAccount() || s.Detached() {
		return nil
	}
	var all operation.List
	for _, name := range lacking(s) {
		agreement := resources.StateConfigMap(s.Cluster, s.Engine, name)
		all = append(all, operation.Create{Work: operation.Work{
			Is: operation.Properties{LiveRead: true, AlwaysLive: true, Applies: true}, Text: "create " + agreement.String(),
		}, Objects: []objects.Child{agreement}})
	}
	if s.Kept != nil { // an older operator created it without the label by which the cache selects it
		if apply, needed := operation.ApplyOf(resources.StateConfigMap(s.Cluster, s.Engine, s.Kept.Name), s.Kept); needed {
			all = append(all, apply)
		}
	}
	return all
}

// lacking are the names of agreements that do not exist.
func lacking(s *situation.Situation) []string {
	if !s.AgreementsRead {
		return nil
	}
	return slices.DeleteFunc(engine.StateConfigMaps(s.Cluster.Name, s.Engine), func(name string) bool {
		_, exists := state.First(s.Agreements, func(a state.Agreement) bool { return a.Name == name })
		return exists || s.OwnedByAnother("ConfigMap", name)
	})
}

// An agreement belongs to the volumes of the members: it knows which of them may continue. So it is retained and adopted with them, and is
// deleted only when no volume remains and no member runs that may use it.

// AdoptedAgreements record this cluster on those of a previous cluster whose volumes it has adopted. Members must not start before it.
func AdoptedAgreements(s *situation.Situation) operation.List {
	if !s.NotStarted() || len(s.Left) > 0 || !hasData(s) || s.PreviousUser != "" || s.ForeignStatefulSet() {
		return nil
	}
	var all []operation.Patch
	for _, a := range inherited(s) {
		before, after := agreementOf(a).In(s.Cluster.Namespace), agreementOf(a).In(s.Cluster.Namespace)
		before.SetLabels(map[string]string{dbv1.LabelClusterUID: string(a.Cluster)})
		after.SetLabels(map[string]string{dbv1.LabelClusterUID: string(s.Cluster.UID)})
		all = append(all, operation.Patch{Before: before, After: after, Text: "ConfigMap " + a.Name})
	}
	return operation.Changes(operation.Work{Is: operation.Properties{LiveRead: true}, Text: "adopt "}, all)
}

func agreementOf(a state.Agreement) operation.Target {
	return operation.Target{Kind: operation.Core("ConfigMap"), Name: a.Name, UID: a.UID, Version: a.Version}
}

// StaleAgreements are those of a previous cluster of the same name whose volumes no longer exist. Members would believe them.
func StaleAgreements(s *situation.Situation) []operation.Removal {
	if !s.NotStarted() || hasData(s) || s.PreviousUser != "" || slices.ContainsFunc(s.Bystanders, runsDatabase) {
		return nil
	}
	return agreements(inherited(s), "the volumes of the previous cluster of the same name no longer exist")
}

func inherited(s *situation.Situation) []state.Agreement {
	return state.Only(s.Agreements, func(a state.Agreement) bool { return a.Cluster != s.Cluster.UID && !a.Terminating })
}

// hasData reports whether the members will start with a volume that has more than a part of its first data.
func hasData(s *situation.Situation) bool {
	has := func(v state.Volume) bool { return !v.IsFilling() }
	return slices.ContainsFunc(s.Own, has) || slices.ContainsFunc(s.Left, has) ||
		slices.ContainsFunc(s.Volumes, func(v state.Volume) bool { return has(v) && !v.Usable() })
}

func runsDatabase(b state.Bystander) bool { return b.Component == dbv1.ComponentDatabase && !b.Ended }

// AwaitsAgreements reports whether an agreement of a previous cluster still exists. The members do not start before it is adopted or
// deleted.
func AwaitsAgreements(s *situation.Situation) bool {
	return s.NotStarted() && slices.ContainsFunc(s.Agreements, func(a state.Agreement) bool { return a.Cluster != s.Cluster.UID })
}

// awaitAgreements waits until no agreement of a previous cluster exists, before the first data is created or the members start.
func awaitAgreements(s *situation.Situation) phase.Outcome {
	if !AwaitsAgreements(s) {
		return phase.Over
	}
	other, _ := state.First(s.Agreements, func(a state.Agreement) bool { return a.Cluster != s.Cluster.UID })
	return phase.Wait(dbv1.ReasonAdoptingVolumes,
		fmt.Sprintf("ConfigMap %s has the agreement of the members of the previous cluster of the same name. "+
			"The operator adopts it with their volumes, or deletes it if there are none", other.Name))
}

func agreements(all []state.Agreement, why string) []operation.Removal {
	removals := make([]operation.Removal, 0, len(all))
	for _, a := range all {
		removals = append(removals, agreementOf(a).Because(why))
	}
	return removals
}

// agreed reports whether the first members may start: their rights and their agreements exist, and are not those of a previous
// cluster.
func agreed(s *situation.Situation) bool {
	if !engine.Identifies(s.Engine) || !s.NotStarted() {
		return true
	}
	ours := state.Only(s.Agreements, func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID && !a.Terminating })
	stale := len(s.Agreements) > len(ours)
	return s.ServiceAccount != nil && s.Role != nil && s.RoleBinding != nil && !stale && len(lacking(s)) == 0
}

// OwnAgreements are the removals of the agreements of this cluster.
func OwnAgreements(s *situation.Situation, why string) []operation.Removal {
	ours := func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID && !a.Terminating }
	return agreements(state.Only(s.Agreements, ours), why)
}

// AgreementRemovals are the agreements of a cluster whose members have ended, if no volume is retained.
func AgreementRemovals(s *situation.Situation, retained bool) []operation.Removal {
	if retained || len(s.Members) > 0 {
		return nil
	}
	return OwnAgreements(s, "no volume remains")
}
