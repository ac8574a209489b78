/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Adoption writes on the claim of a data volume which cluster owns it and which engine wrote its data.
type Adoption struct {
	Volume state.Volume
	Engine string
	// Taken tells that the claim was an earlier cluster's until now.
	Taken bool
}

func (a Adoption) String() string { return "PersistentVolumeClaim " + a.Volume.Claim }

// adoptions take over, all at once, the volumes that an earlier cluster of the same name has left, and record the
// engine on those of the cluster's own with which members of another engine have started.
func adoptions(cluster *dbv1.DatabaseCluster, observed state.Observed) []Adoption {
	if volumesKept(cluster, observed) != nil || formerUser(cluster, observed) != "" || slices.ContainsFunc(observed.Foreign, holdsVolumes) {
		return nil
	}
	var all []Adoption
	for _, v := range observed.Volumes {
		a := Adoption{Volume: v, Engine: v.Engine, Taken: v.Cluster != cluster.UID}
		if !a.Taken {
			a.Engine = wroteLast(observed, v)
		}
		if usable(v) && !v.Stopping && (a.Taken && takes(cluster, v) || a.Engine != v.Engine) {
			all = append(all, a)
		}
	}
	return all
}

// wroteLast is the engine that may have written the data of a volume: that of the member that has started with it. What
// spec.engine names counts only then. A pod of an earlier operator does not say its engine and changes nothing.
func wroteLast(observed state.Observed, v state.Volume) string {
	for _, m := range observed.Members {
		if engine := observed.EngineOf(m); m.Ordinal == v.Ordinal && m.Started && engine != "" {
			return engine
		}
	}
	return v.Engine
}

// takes tells whether an earlier cluster's volume may become this one's. One whose members have none of the kind would
// never use it, but delete it with itself.
func takes(cluster *dbv1.DatabaseCluster, v state.Volume) bool {
	return v.Engine == cluster.Spec.Engine && v.Restoring == "" && !ephemeral(cluster)
}

// usable tells whether the operator may write on a claim: it bears the label by which it is seen to change.
func usable(v state.Volume) bool { return v.Managed && !v.Unwatched }

// left are the volumes that an earlier cluster of the same name has left.
func left(cluster *dbv1.DatabaseCluster, observed state.Observed) []state.Volume {
	if ephemeral(cluster) {
		return nil
	}
	var all []state.Volume
	for _, v := range observed.Volumes {
		if usable(v) && v.Cluster != cluster.UID {
			all = append(all, v)
		}
	}
	return all
}

func ephemeral(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Storage.Ephemeral != nil && *cluster.Spec.Storage.Ephemeral
}

// beginning tells whether the members are still to be made: they would take up what volumes there are.
func beginning(observed state.Observed) bool {
	return observed.StatefulSet == nil && len(observed.Members) == 0
}

// inherits tells whether the members have to wait until volumes have been taken over.
func inherits(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return beginning(observed) && len(left(cluster, observed)) > 0
}

// volumesKept is the stall of volumes that an earlier cluster left and that cannot be taken over: members that
// started with them would find other data than they should, or lose it.
func volumesKept(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if !inherits(cluster, observed) {
		return nil
	}
	all := left(cluster, observed)
	if bootstrap := cluster.Spec.Bootstrap; bootstrap != nil && bootstrap.FromBackup != nil {
		return &Stall{dbv1.ReasonVolumesKept, fmt.Sprintf(
			"%s: left by an earlier cluster of this name, and spec.bootstrap.fromBackup never overwrites data; delete what is not needed any more, or take spec.bootstrap out to start with these volumes",
			named(all))}
	}
	for _, v := range all {
		switch {
		case v.Stopping:
			return &Stall{dbv1.ReasonVolumesKept, fmt.Sprintf(
				"PersistentVolumeClaim %s of an earlier cluster of this name is being deleted; wait until it is gone, after which its member starts with an empty volume, or give the cluster another name",
				v.Claim)}
		case v.Restoring != "":
			return &Stall{dbv1.ReasonVolumesKept, fmt.Sprintf(
				"PersistentVolumeClaim %s of an earlier cluster of this name holds a part of a backup, because the restore into it has not come to its end; delete the claim; to restore again, delete the cluster as well and create it with spec.bootstrap.fromBackup",
				v.Claim)}
		case v.Engine != cluster.Spec.Engine:
			return &Stall{dbv1.ReasonVolumesKept, fmt.Sprintf(
				"PersistentVolumeClaim %s of an earlier cluster of this name holds data of %s, and spec.engine is %q; delete the claim, give the cluster another name or engine, or, where the data is of that engine after all, set the claim's annotation %s to that",
				v.Claim, engineText(v.Engine), cluster.Spec.Engine, dbv1.AnnotationEngine)}
		}
	}
	return nil
}

func named(volumes []state.Volume) string {
	names := make([]string, 0, len(volumes))
	for _, v := range volumes {
		names = append(names, "PersistentVolumeClaim "+v.Claim)
	}
	return strings.Join(names, ", ")
}

func engineText(name string) string {
	if name == "" {
		return "no engine that is known"
	}
	return fmt.Sprintf("engine %q", name)
}

// usesVolumes are the components whose pods have a member's volume, or may have.
var usesVolumes = map[string]bool{dbv1.ComponentDatabase: true, dbv1.ComponentBackup: true, dbv1.ComponentRestore: true}

// formerUser is what an earlier cluster of the same name has left that may still use its volumes; "" for nothing. Its
// members whom nobody controls go on with them as members of this one.
func formerUser(cluster *dbv1.DatabaseCluster, observed state.Observed) string {
	for _, b := range observed.Bystanders {
		orphan := b.Orphan && b.Component == dbv1.ComponentDatabase
		if usesVolumes[b.Component] && b.Cluster != cluster.UID && b.Cluster != "" && !b.Ended && !orphan {
			return "pod " + b.Name
		}
	}
	if len(observed.FormerJobs) > 0 {
		return "Job " + observed.FormerJobs[0]
	}
	return ""
}

// holdsVolumes tells whether an object may make pods that use the volumes: a StatefulSet of the cluster's name does, also
// while it has none.
func holdsVolumes(r state.Ref) bool { return isLeaving(r) || isStatefulSet(r) }

// adopting waits until the volumes that an earlier cluster left have been taken over.
func adopting(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if !inherits(cluster, observed) {
		return false
	}
	user, kept := formerUser(cluster, observed), volumesKept(cluster, observed)
	switch {
	case kept != nil:
		p.Reason, p.Why = dbv1.ReasonAdoptingVolumes, kept.Message
	case user != "":
		p.Reason = dbv1.ReasonWaitingForFormer
		p.Why = fmt.Sprintf("%s of an earlier cluster of this name still runs; its volumes are taken over when it has ended", user)
	case slices.ContainsFunc(observed.Foreign, isStatefulSet):
		p.Reason, p.Why = dbv1.ReasonWaitingForFormer, "a StatefulSet that is not this cluster's makes the pods that use the volumes; they are taken over when it has gone"
	default:
		p.Reason, p.Why = dbv1.ReasonAdoptingVolumes, "taking over "+describe(p.Adopt)
	}
	return true
}
