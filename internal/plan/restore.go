/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A backup is restored before there is a StatefulSet: the claims are made, marked as being restored into; a Job fills
// each volume; the claims are marked as restored; then the StatefulSet is made and takes them up. How far that is
// the claims and Jobs tell, so it goes on after a crash at any point.
//
// No member has ever run with a volume that bears the first mark, because no StatefulSet is made while one does. What
// is in it is a part of a backup and nothing else. So, and only so, it may be deleted when something else is to be
// restored.

// restore is what is still to be done of that; there are no members yet.
type restore struct {
	cluster  *dbv1.DatabaseCluster
	observed state.Observed
	// from is where the backup is, and id what a restore of it into these members is called; nil and "" while that is
	// not known, or nothing is to be restored.
	from *dbv1.BackupDestination
	id   string
	// own are the volumes that were made for this cluster.
	own []state.Volume
}

// restoreOf is nil where there is nothing left to restore: members were made before, or every volume is filled.
func restoreOf(cluster *dbv1.DatabaseCluster, observed state.Observed) *restore {
	if !beginning(observed) || started(cluster) {
		return nil
	}
	r := &restore{cluster: cluster, observed: observed, from: state.SourceOf(cluster, observed.Restore.Backup)}
	for _, v := range observed.Volumes {
		if v.Cluster == cluster.UID {
			r.own = append(r.own, v)
		}
	}
	begun := slices.ContainsFunc(r.own, isRestoring)
	asked := state.FromBackup(cluster) != nil && !slices.ContainsFunc(r.own, isPlain) && !r.whole()
	if !begun && !asked {
		return nil
	}
	if r.from != nil {
		r.id = restoreID(cluster, *r.from)
	}
	return r
}

// started tells whether the members were once started with what was restored; the source is not read again after
// that, whatever has become of them.
func started(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Status.Restore != nil && cluster.Status.Restore.Phase == dbv1.RestoreCompleted
}

// restoreID names a restore by all that it depends on: what another one has left is not gone on with.
func restoreID(cluster *dbv1.DatabaseCluster, from dbv1.BackupDestination) string {
	parts := []string{from.URL, from.Endpoint, from.Region, from.CredentialsSecretName, from.ClaimName, fmt.Sprint(cluster.Spec.Replicas)}
	// Newer fields count where they are set: a restore that runs keeps its name through an upgrade of the operator.
	if from.Credentials != "" {
		parts = append(parts, "credentials="+string(from.Credentials))
	}
	if from.EncryptionSecretName != "" {
		parts = append(parts, "encryption="+from.EncryptionSecretName)
	}
	return naming.RestoreID(cluster.UID, parts...)
}

func isRestoring(v state.Volume) bool { return v.Restoring != "" }

// isPlain tells whether a volume was made without a restore: by a StatefulSet, so that there were members before.
func isPlain(v state.Volume) bool { return v.Restoring == "" && v.Restored == "" }

// whole tells whether every member finds its volume filled.
func (r *restore) whole() bool {
	var filled int32
	for _, v := range r.own {
		if v.Ordinal < r.cluster.Spec.Replicas && v.Restored != "" && v.Restoring == "" && !v.Stopping {
			filled++
		}
	}
	return filled == r.cluster.Spec.Replicas
}

// emptyHanded tells whether the first members would not find what they are to start with.
func emptyHanded(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return restoreOf(cluster, observed) != nil || beginning(observed) && halfRestored(cluster, observed) != nil
}

// restoring takes the next step towards filled volumes. One thing after the other: what a former source left goes,
// the claims are made, the Jobs run, the claims are marked.
func restoring(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	r := restoreOf(cluster, observed)
	switch {
	case r == nil:
		return false
	case held(p, cluster, observed):
		return true
	}
	p.Reason = dbv1.ReasonRestoring
	switch {
	case r.recreates(p):
	case p.Stalled != nil && p.Stalled.Reason != dbv1.ReasonJobBlocked:
		p.Why = p.Stalled.Message
	case r.stopJobs(p), r.discard(p), r.prepare(p), r.start(p), r.finish(p):
	case p.Stalled != nil:
		p.Why = p.Stalled.Message
	default:
		p.Reason, p.Why = r.waits()
	}
	return true
}

// stopJobs ends what fills no volume that is wanted, and waits until nothing of it runs any more: two that write into one
// volume would spoil it.
func (r *restore) stopJobs(p *Plan) bool {
	var wanted []string
	for _, v := range r.own {
		if v.Restoring != "" && (v.Restoring == r.id || r.unknown()) {
			wanted = append(wanted, r.job(v))
		}
	}
	return stopJobs(p, r.cluster, r.observed, wanted)
}

// unknown tells whether nobody knows just now what is to be restored.
func (r *restore) unknown() bool { return r.from == nil && state.FromBackup(r.cluster) != nil }

// discard deletes the volumes that another restore has begun to fill. Those that it had filled go first: without the
// others nothing would tell any more that they are part of a whole that never was.
func (r *restore) discard(p *Plan) bool {
	if r.unknown() || !slices.ContainsFunc(r.own, r.outdated) {
		return r.awaitClaims(p)
	}
	former := slices.DeleteFunc(slices.Clone(r.own), func(v state.Volume) bool { return v.Restored == "" })
	if len(former) == 0 {
		former = slices.DeleteFunc(slices.Clone(r.own), func(v state.Volume) bool { return !r.outdated(v) })
	}
	for _, v := range former {
		if !v.Stopping {
			p.Delete = append(p.Delete, Removal{"PersistentVolumeClaim", v.Claim, v.UID, v.Version, "holds a part of a backup that is wanted no more"})
		}
	}
	if len(p.Delete) == 0 {
		return r.awaitClaims(p)
	}
	p.Why = "something else is to be restored than before; deleting " + describe(p.Delete)
	return true
}

// outdated tells whether a volume holds a part of what another restore was to bring.
func (r *restore) outdated(v state.Volume) bool { return v.Restoring != "" && v.Restoring != r.id }

// awaitClaims waits until the names of claims are free.
func (r *restore) awaitClaims(p *Plan) bool {
	i := slices.IndexFunc(r.observed.Volumes, func(v state.Volume) bool { return v.Stopping })
	if i >= 0 {
		p.Why = fmt.Sprintf("PersistentVolumeClaim %s is being deleted; the restore goes on when it is gone", r.observed.Volumes[i].Claim)
	}
	return i >= 0
}

// prepare makes the claims.
func (r *restore) prepare(p *Plan) bool {
	if r.from == nil {
		return false
	}
	var claims []resources.Child
	for ordinal := range r.cluster.Spec.Replicas {
		if !slices.ContainsFunc(r.own, func(v state.Volume) bool { return v.Ordinal == ordinal }) {
			claims = append(claims, resources.RestoreClaim(r.cluster, ordinal, r.id))
		}
	}
	if len(claims) == 0 {
		return false
	}
	p.Step = MakeVolumes{claims}
	p.Why = "making the volumes that the backup is restored into: " + describe(claims)
	return true
}

// start makes the Jobs that there are not, of all members at once.
func (r *restore) start(p *Plan) bool {
	if !r.creates() {
		return false // the condition Stalled says why
	}
	var jobs []resources.Child
	for _, v := range r.filling() {
		if _, found := r.observed.Restore.Job(r.job(v)); !found {
			jobs = append(jobs, r.desired(v))
		}
	}
	if len(jobs) == 0 {
		return false
	}
	p.Step = StartRestore{From: r.from.URL, Jobs: jobs}
	p.Why = fmt.Sprintf("restoring %s, starting %s", r.from.URL, describe(jobs))
	return true
}

// creates reports whether all is known that a Job is made from.
func (r *restore) creates() bool {
	return r.from != nil && r.observed.Image != "" && r.observed.Engine != nil && r.observed.Engine.Spec.Actions.Restore != nil
}

// desired is the Job that fills a volume; see creates.
func (r *restore) desired(v state.Volume) resources.Child {
	return resources.RestoreJob(r.cluster, resources.Restore{
		ID: r.id, From: *r.from, Command: r.observed.Engine.Spec.Actions.Restore.Command, Image: r.observed.Image,
	}, v)
}

// finish marks the claims once every volume is filled.
func (r *restore) finish(p *Plan) bool {
	filling := r.filling()
	if r.from == nil || len(filling) == 0 {
		return false
	}
	for _, v := range filling {
		if job, found := r.observed.Restore.Job(r.job(v)); !found || !job.Succeeded || job.Ending {
			return false
		}
	}
	p.Step = FinishRestore{From: r.from.URL, Volumes: filling}
	p.Why = r.from.URL + " is restored into every member's volume"
	return true
}

// filling are the volumes that this restore fills.
func (r *restore) filling() []state.Volume {
	return slices.DeleteFunc(slices.Clone(r.own), func(v state.Volume) bool { return v.Restoring == "" || v.Restoring != r.id })
}

func (r *restore) job(v state.Volume) string {
	return naming.RestoreJob(r.cluster.Name, v.Restoring, v.UID, v.Ordinal)
}

// waits says what the Jobs do, and whether all is well with them: no numbers, which change by themselves and are in
// the status.
func (r *restore) waits() (reason, why string) {
	if r.from == nil {
		return dbv1.ReasonRestoring, sourceText(r.cluster, r.observed.Restore.Backup)
	}
	reason = dbv1.ReasonRestoring
	texts := []string{fmt.Sprintf("restoring %s into every member's volume; status.restore tells how far it is", r.from.URL)}
	for _, v := range r.filling() {
		job, _ := r.observed.Restore.Job(r.job(v))
		switch {
		case job.Ending:
			texts = append(texts, fmt.Sprintf("waiting for the former Job %s to go", job.Job))
		case !job.Succeeded && job.Final:
			texts = append(texts, fmt.Sprintf("Job %s has failed: %s", job.Job, job.Cause()))
		case !job.Succeeded && job.Cause() != "":
			reason = dbv1.ReasonRestoreRetrying
			texts = append(texts, fmt.Sprintf("Job %s is tried again: %s", job.Job, job.Cause()))
		}
	}
	return reason, strings.Join(texts, "; ")
}
