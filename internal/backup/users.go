/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stray is a pod of a Job that was deleted without its pods.
func stray(all []jobs.Job, pods []corev1.Pod) string {
	for i := range pods {
		pod := state.BystanderOf(&pods[i])
		known := slices.ContainsFunc(all, func(j jobs.Job) bool { return j.UID == pod.Job })
		if pod.Component == dbv1.ComponentBackup && !pod.Ended && !known {
			return pod.Name
		}
	}
	return ""
}

// readVolumes reads the claims of the members that a Job may mount. The last primary may be a member that was removed.
func (o *observation) readVolumes(ctx context.Context) {
	o.Volumes = map[string]state.Volume{}
	for ordinal := range max(o.Cluster.Spec.Replicas, o.backup.Status.Replicas) {
		o.readVolume(ctx, ordinal)
	}
	o.readAgreements(ctx)
	first := o.Volumes[naming.Claim(o.Cluster, 0)]
	if ordinal, known := state.Latest(o.Cluster.Name, o.Engine, o.Agreements, first.Contents, o.Extent); known {
		o.readVolume(ctx, ordinal)
	}
}

// readAgreements reads the object with the lock of the primary. One of another cluster of the same name does not count.
func (o *observation) readAgreements(ctx context.Context) {
	lock, config := engine.LockOf(o.Engine), &corev1.ConfigMap{}
	if lock == nil || !o.FindLive(ctx, naming.State(o.Cluster.Name, lock.ConfigMap), config) {
		return
	}
	if a := state.AgreementOf(config, o.Cluster.Name, lock); a.Cluster == o.Cluster.UID {
		o.Agreements = []state.Agreement{a}
	}
}

func (o *observation) readVolume(ctx context.Context, ordinal int32) {
	name, claim := naming.Claim(o.Cluster, ordinal), &corev1.PersistentVolumeClaim{}
	if _, read := o.Volumes[name]; !read && o.FindLive(ctx, name, claim) {
		o.Volumes[name] = state.VolumeOf(claim, ordinal)
	}
}

// readSource reads the claim of the next member, of members with data of their own.
func (o *observation) readSource(ctx context.Context) {
	ordinal, left := plan.Next(o.backup)
	if o.Err != nil || o.Cluster == nil || !left || engine.Related(o.Engine) {
		return
	}
	claim := &corev1.PersistentVolumeClaim{}
	if o.FindLive(ctx, naming.Claim(o.Cluster, ordinal), claim) {
		o.Source = new(state.VolumeOf(claim, ordinal))
	}
}

// readUsers finds the pods that use the volumes, whatever their labels. Jobs mount volumes only if the cluster is
// being deleted, and only after a live read.
func (o *observation) readUsers(ctx context.Context) {
	if o.Err != nil || o.Cluster == nil || o.Cluster.DeletionTimestamp == nil {
		return
	}
	pods := &corev1.PodList{}
	if err := o.View.List(ctx, pods, client.InNamespace(o.backup.Namespace)); err != nil {
		o.Err = fmt.Errorf("list the pods that use volumes of %s: %w", o.backup.Spec.Cluster, err)
		return
	}
	o.readVolumes(ctx)
	o.Users = map[string]string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil && !state.BystanderOf(pod).Ended {
				o.Users[v.PersistentVolumeClaim.ClaimName] = pod.Name
			}
		}
	}
}
