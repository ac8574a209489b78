/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;list

// readPreviousStatefulSet reads the last state of a StatefulSet whose members run without it: while it is
// re-created, or after a user deleted it and orphaned its pods.
//
// Kubernetes keeps that state in the newest revision. The labels of pods do not identify it: a member that was
// resized in place has the label of the revision that created it.
func (o *observation) readPreviousStatefulSet(ctx context.Context) {
	if o.Err != nil || o.Cluster.DeletionTimestamp != nil || o.StatefulSet != nil || len(o.Members) == 0 {
		return
	}
	labels := naming.Selector(o.Cluster.Name)
	labels[dbv1.LabelClusterUID] = string(o.Cluster.UID)
	revisions := &appsv1.ControllerRevisionList{}
	if err := o.Live.List(ctx, revisions, client.InNamespace(o.Cluster.Namespace), client.MatchingLabels(labels)); err != nil {
		o.Err = fmt.Errorf("list the revisions of %s: %w", o.Cluster.Name, err)
		return
	}
	var newest *appsv1.ControllerRevision
	for i := range revisions.Items {
		if newest == nil || revisions.Items[i].Revision > newest.Revision {
			newest = &revisions.Items[i]
		}
	}
	if newest != nil {
		o.PreviousStatefulSet, o.Err = state.FromRevision(newest)
	}
}

// readPreviousJobs finds the Jobs of the previous cluster of the same name that may still start a pod with one of
// its volumes. A last backup is retried many times, and between two attempts it has no pod.
func (o *observation) readPreviousJobs(ctx context.Context) {
	left := slices.ContainsFunc(o.Volumes, func(v state.Volume) bool { return v.Cluster != o.Cluster.UID })
	if !left || o.StatefulSet != nil || len(o.Members) > 0 {
		return
	}
	labels := naming.Selector(o.Cluster.Name)
	labels[dbv1.LabelComponent] = dbv1.ComponentBackup
	list := &batchv1.JobList{}
	o.Labeled(ctx, list, labels)
	for i := range list.Items {
		job := &list.Items[i]
		task := jobs.Of(job, nil)
		theirs := types.UID(job.Labels[dbv1.LabelClusterUID]) != o.Cluster.UID
		if theirs && !task.Ended() && state.MountsMember(job.Spec.Template.Spec.Volumes, o.Cluster.Name) {
			o.PreviousJobs = append(o.PreviousJobs, job.Name)
		}
	}
	slices.Sort(o.PreviousJobs)
}
