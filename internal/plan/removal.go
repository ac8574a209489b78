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

// own are the claims that were made for this cluster, or taken over by it.
func own(cluster *dbv1.DatabaseCluster, observed state.Observed) []state.Volume {
	var all []state.Volume
	for _, v := range observed.Volumes {
		if usable(v) && v.Cluster == cluster.UID {
			all = append(all, v)
		}
	}
	return all
}

// deletable are those of them that may be deleted: where there was to be a final backup, those whose last write it
// holds. Volumes of members that were removed before it are in none.
func deletable(cluster *dbv1.DatabaseCluster, observed state.Observed) []state.Volume {
	return slices.DeleteFunc(own(cluster, observed), func(v state.Volume) bool { return !saved(cluster, observed, v) })
}

// removeVolumes deletes the volumes where the spec asks for it and every hook has succeeded, and waits until they
// are gone.
func removeVolumes(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	volumes := deletable(cluster, observed)
	if !deletesVolumes(cluster) || len(unsuccessful(p.Hooks)) > 0 || len(volumes) == 0 {
		return false
	}
	p.Reason = dbv1.ReasonDeleting
	if pods := users(observed); len(pods) > 0 {
		p.Why = fmt.Sprintf("pods still have the volumes that are to be deleted: %s", strings.Join(pods, ", "))
		p.Again = usersAgain
		if nobodyStops(observed) {
			p.Stalled = &Stall{dbv1.ReasonNameConflict, p.Why +
				". Nobody stops them: delete the StatefulSet that they are of, or, where there is none, the pods; or set spec.deletion.volumes to Retain"}
		}
		return true
	}
	p.Delete = append(p.Delete, finished(observed)...)
	for _, v := range volumes {
		if !v.Stopping {
			p.Delete = append(p.Delete, Removal{"PersistentVolumeClaim", v.Claim, v.UID, v.Version, "spec.deletion.volumes is Delete"})
		}
	}
	p.Why = "deleting, as spec.deletion.volumes says: " + named(volumes)
	return true
}

func deletesVolumes(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete
}

// unsuccessful are the hooks that have not succeeded.
func unsuccessful(hooks []dbv1.HookStatus) []string {
	var names []string
	for _, h := range hooks {
		if h.Phase != dbv1.HookSucceeded {
			names = append(names, fmt.Sprintf("%q (%s)", h.Name, h.Phase))
		}
	}
	return names
}

// users are the pods that run with a volume of the cluster: an earlier one's, too, from which it took the volume over.
func users(observed state.Observed) []string {
	var pods []string
	for _, m := range observed.Members {
		pods = append(pods, m.Name)
	}
	for _, b := range observed.Bystanders {
		if usesVolumes[b.Component] && !b.Ended {
			pods = append(pods, b.Name)
		}
	}
	return pods
}

// nobodyStops tells whether some of these pods stay until a human acts: members whose StatefulSet has become somebody
// else's, or has gone and left them.
func nobodyStops(observed state.Observed) bool {
	return len(observed.Members) > 0 || slices.ContainsFunc(observed.Bystanders, func(b state.Bystander) bool {
		return b.Orphan && b.Component == dbv1.ComponentDatabase && !b.Ended
	})
}

// finished are the pods of Jobs that have ended and had a volume: Kubernetes does not let a claim go for as long as
// any pod names it, be it of an earlier cluster from which the volume was taken over.
func finished(observed state.Observed) []Removal {
	var all []Removal
	for _, b := range observed.Bystanders {
		if b.Mounts && b.Component != dbv1.ComponentDatabase && b.Cluster != "" && b.Ended {
			all = append(all, Removal{"Pod", b.Name, b.UID, b.Version, "it keeps a volume from being deleted"})
		}
	}
	return all
}

// finish lets the cluster go, and says what stays.
func finish(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) {
	stays := func(all []state.Volume) []state.Volume {
		return slices.DeleteFunc(slices.Clone(all), func(v state.Volume) bool { return v.Stopping })
	}
	text, last := "no volume is left", Finalize{}
	if kept := stays(observed.Volumes); len(kept) > 0 {
		text = "kept: " + named(kept)
	}
	if deletesVolumes(cluster) && len(stays(own(cluster, observed))) > 0 {
		last.Kept = fmt.Sprintf("spec.deletion.volumes is Delete, but %s; %s", whyKept(p.Hooks), text)
	}
	p.Step, p.Reason, p.Why = last, dbv1.ReasonDeleting, "every member has stopped; "+text
	if left := len(observed.Members); left > 0 {
		p.Why = fmt.Sprintf("%d members are left running without the StatefulSet that was theirs; %s", left, text)
	}
}

// whyKept says why volumes stay that the spec wants to be deleted.
func whyKept(hooks []dbv1.HookStatus) string {
	if names := unsuccessful(hooks); len(names) > 0 {
		return "deletion hooks have not succeeded: " + strings.Join(names, ", ")
	}
	return "the last backup does not hold what members left that had gone before it"
}
