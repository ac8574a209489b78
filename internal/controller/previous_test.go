/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// lastBackup is the Job that backs up a volume of the previous cluster. It has no pod: it waits for its next
// attempt.
func lastBackup(change func(*batchv1.Job)) *batchv1.Job {
	backup := &dbv1.DatabaseBackup{}
	backup.Namespace, backup.UID, backup.Spec.Cluster, backup.Status.ClusterUID = "shop", "1c2d3e4f", "orders", "earlier"
	job := &batchv1.Job{}
	job.Namespace, job.Name = "shop", naming.BackupJob("orders", backup.UID, 0)
	job.Labels = naming.BackupJobLabels(backup, dbv1.ComponentBackup)
	job.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-orders-0"},
	}}}
	change(job)
	return job
}

func TestVolumesAreAdoptedWhenNoJobOfThePreviousClusterMayMountThem(t *testing.T) {
	cases := map[string]struct {
		change func(*batchv1.Job)
		waits  bool
	}{
		"one that waits for its next try": {func(*batchv1.Job) {}, true},
		"one that is being deleted":       {func(j *batchv1.Job) { j.Finalizers, j.DeletionTimestamp = []string{"foregroundDeletion"}, &moment }, true},
		"one that has failed": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		}, false},
		"one that has succeeded": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}, false},
		"one that asks members":    {func(j *batchv1.Job) { j.Spec.Template.Spec.Volumes = nil }, false},
		"one of another volume":    {func(j *batchv1.Job) { j.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "backups" }, false},
		"one of this very cluster": {func(j *batchv1.Job) { j.Labels[dbv1.LabelClusterUID] = string(running().UID) }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := running()
			cluster.Finalizers = []string{dbv1.Finalizer}
			claim := &corev1.PersistentVolumeClaim{}
			claim.Namespace, claim.Name, claim.Labels = "shop", "data-orders-0", naming.Labels(cluster, dbv1.ComponentDatabase)
			claim.Labels[dbv1.LabelClusterUID] = "earlier"
			s := newServer(t, cluster, claim, lastBackup(c.change))
			if _, err := s.pass(t); err != nil {
				t.Fatal(err)
			}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
				t.Fatal(err)
			}
			if taken := claim.Labels[dbv1.LabelClusterUID] == string(cluster.UID); taken == c.waits {
				t.Errorf("taken over: %v", taken)
			}
			if slices.ContainsFunc(s.sent, writesStatefulSet) {
				t.Errorf("members were created immediately: %q", s.sent)
			}
		})
	}
}
