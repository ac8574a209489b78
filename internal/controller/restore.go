/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=get

// readRestore reads the objects of a restore into the cluster's volumes, as long as it has no members. In a
// deletion, it reads the Jobs that still write there.
func (o *observation) readRestore(ctx context.Context, r *Reconciler) {
	deleted, asked := o.Cluster.DeletionTimestamp != nil, state.FromBackup(o.Cluster) != nil || engine.Related(o.Engine)
	if o.Err != nil || !o.fills() && !asked || !deleted && (o.StatefulSet != nil || len(o.Members) > 0) {
		return
	}
	o.Image = r.TransferImage
	o.readRestoreJobs(ctx)
	if deleted || !asked {
		return
	}
	o.readSource(ctx)
	o.readClaimsByName(ctx)
	if o.Err == nil {
		jobs.ReadLogs(ctx, r.Logs, o.Cluster.Namespace, o.Restore.Jobs, func(jobs.Job) bool { return true })
	}
}

// fills reports whether a volume of the cluster is being filled.
func (o *observation) fills() bool {
	return slices.ContainsFunc(o.Volumes, func(v state.Volume) bool { return v.IsFilling() && v.Cluster == o.Cluster.UID })
}

// readRestoreJobs reads the Jobs that fill volumes, found by label, and other Jobs with their names.
func (o *observation) readRestoreJobs(ctx context.Context) {
	labels := naming.Labels(o.Cluster, dbv1.ComponentRestore)
	list := &batchv1.JobList{}
	o.Labeled(ctx, list, labels)
	for i := range list.Items {
		o.Restore.Jobs = append(o.Restore.Jobs, o.Job(ctx, resources.RestoreAction, &list.Items[i]))
	}
	for _, v := range o.Volumes {
		name := naming.RestoreJob(o.Cluster.Name, v.From, v.UID, v.Ordinal)
		if _, found := o.Restore.Job(name); found || !v.IsFilling() || v.Cluster != o.Cluster.UID {
			continue
		}
		job := &batchv1.Job{}
		switch {
		case !o.Find(ctx, name, job):
		case types.UID(job.Labels[dbv1.LabelClusterUID]) != o.Cluster.UID:
			o.Foreign = append(o.Foreign, state.Ref{Kind: "Job", Name: name})
		default:
			o.Restore.Jobs = append(o.Restore.Jobs, o.Job(ctx, resources.RestoreAction, job))
		}
	}
	slices.SortFunc(o.Restore.Jobs, func(a, b jobs.Job) int { return cmp.Compare(a.Name, b.Name) })
}

// readSource reads the DatabaseBackup that the spec names, and checks the objects that its destination names. It
// belongs to another cluster or user and may lack the operator's labels, so it is not watched.
func (o *observation) readSource(ctx context.Context) {
	if state.FromBackup(o.Cluster) == nil {
		return
	}
	if name := state.FromBackup(o.Cluster).Name; name != "" {
		backup := &dbv1.DatabaseBackup{}
		if o.FindLive(ctx, name, backup) {
			o.Restore.Backup = backup
		}
	}
	o.readSearch(ctx)
	if source := state.ReadsFrom(o.Cluster, o.Restore.Backup); source != nil {
		for _, secret := range state.SecretsOf(source) {
			if !o.FindLive(ctx, secret.Name, &corev1.Secret{}) {
				o.Restore.Missing = append(o.Restore.Missing, state.Ref{Kind: "Secret", Name: secret.Name})
			}
		}
		if name := source.ClaimName; name != "" && !o.FindLive(ctx, name, &corev1.PersistentVolumeClaim{}) {
			o.Restore.Missing = append(o.Restore.Missing, state.Ref{Kind: "PersistentVolumeClaim", Name: name})
		}
	}
}

// readSearch reads the Job that looks for the newest backup, until the operator has decided by its result.
func (o *observation) readSearch(ctx context.Context) {
	if state.SearchedFolder(o.Cluster) == nil || state.Decided(o.Cluster) != nil {
		return
	}
	name := naming.SearchJob(o.Cluster.Name, state.SearchID(o.Cluster))
	if _, job, found := o.JobNamed(ctx, resources.SearchAction, name); found {
		o.Restore.Search = &job
	}
}

// readClaimsByName looks for claims that are missing from the list. A claim without the cluster's labels has
// another owner, and no backup is restored over it.
func (o *observation) readClaimsByName(ctx context.Context) {
	for ordinal := range o.Cluster.Spec.Replicas { // all of them: members take over existing claims
		claim := &corev1.PersistentVolumeClaim{}
		name := naming.Claim(o.Cluster, ordinal)
		i := slices.IndexFunc(o.Volumes, func(v state.Volume) bool { return v.Ordinal == ordinal })
		switch {
		case i >= 0 && o.Volumes[i].Managed, i < 0 && !o.Find(ctx, name, claim):
		case i < 0 && claim.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue && claim.Labels[dbv1.LabelInstance] == o.Cluster.Name:
			o.Volumes = append(o.Volumes, state.VolumeOf(claim, ordinal)) // not in the cache yet
		default:
			o.Foreign = append(o.Foreign, state.Ref{Kind: "PersistentVolumeClaim", Name: name})
		}
	}
	slices.SortFunc(o.Volumes, func(a, b state.Volume) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}
