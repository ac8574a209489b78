/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups;databaseclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims;secrets,verbs=get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch

// observation collects the facts that are read.
type observation struct {
	kit.Reading
	backup *dbv1.DatabaseBackup
	// set is the StatefulSet with the name of the cluster's members; nil if it does not exist.
	set *appsv1.StatefulSet
	plan.BackupFacts
}

// Observe reads the facts for the next operations of a backup.
func (r *Reconciler) Observe(ctx context.Context, backup *dbv1.DatabaseBackup, from kit.Reading) (plan.BackupFacts, error) {
	o := &observation{Reading: from, backup: backup}
	o.At, o.TransferImage, o.NameServers = r.Clock.Now(), r.TransferImage, r.NameServers
	o.read(ctx, r.Logs)
	if from.Uncached {
		o.readUsers(ctx)
		o.readSource(ctx)
	}
	return o.BackupFacts, o.Err
}

// read reads the facts for a decision on the backup.
func (o *observation) read(ctx context.Context, logs jobs.Logs) {
	backup := o.backup
	o.readJobs(ctx, logs)
	if !plan.Idle(backup) {
		o.readCluster(ctx)
		o.readMissing(ctx)
		for i, task := range o.Jobs {
			o.Jobs[i] = task.ResourcesIn(plan.FieldOfResources(o.Cluster))
		}
	}
	if !backup.Status.Phase.Finished() && backup.DeletionTimestamp == nil {
		o.fence(o.ReadMembers(ctx, &o.Reading, o.set))
		o.readOthers(ctx)
	}
	if (plan.Verifying(backup) || o.Uncached && o.copied()) && backup.DeletionTimestamp == nil {
		o.readPolicy(ctx)
	}
	if backup.DeletionTimestamp == nil && o.Err == nil {
		jobs.ReadLogs(ctx, logs, backup.Namespace, o.Jobs, plan.WritesLog)
	}
}

// readJobs reads the backup's Jobs and their pods.
func (o *observation) readJobs(ctx context.Context, logs jobs.Logs) {
	var pods []corev1.Pod
	o.Jobs, pods = ofBackups.Observe(ctx, &o.Reading, logs, o.At)
	o.Stray = stray(o.Jobs, pods)
}

// readCluster reads the cluster and its engine. A verification and a deletion use the engine and image of the
// backup, even if the cluster has changed.
func (o *observation) readCluster(ctx context.Context) {
	cluster := &dbv1.DatabaseCluster{}
	found := o.Find(ctx, o.backup.Spec.Cluster, cluster)
	if found {
		o.Diverged = plan.Since(o.backup, cluster)
	}
	if !found || o.backup.Status.Phase == dbv1.BackupCompleted {
		cluster.Spec.Engine, cluster.Spec.Image = o.backup.Status.Engine, o.backup.Status.Image
		o.Engine = named.Engine(ctx, &o.Reading, cluster.Spec.Engine)
	} else {
		cluster, o.set = o.InForce(ctx, &o.Reading, cluster)
	}
	if found {
		o.RecoveryFacts = plan.RecoveryFactsOf(o.backup, cluster)
		o.Resolve(ctx, &o.Reading, cluster)
	}
}

// fence identifies the stop of the members of a cluster that is being deleted. It considers every pod with their
// labels, whatever its creator.
func (o *observation) fence(pods []corev1.Pod) {
	runs := func(pod corev1.Pod) bool { return !state.BystanderOf(&pod).Ended }
	if o.Err == nil && o.Cluster != nil && o.Cluster.DeletionTimestamp != nil && !o.Foreign && !slices.ContainsFunc(pods, runs) {
		o.Fence = state.Fence(o.set)
	}
}

// readMissing checks the objects that the destination needs. They belong to the user and are not watched.
func (o *observation) readMissing(ctx context.Context) {
	at := plan.Place(o.backup, o.Cluster)
	if at == nil {
		return
	}
	for _, named := range state.SecretsOf(at) {
		secret := &corev1.Secret{}
		found := o.FindLive(ctx, named.Name, secret)
		o.Missing = cmp.Or(o.Missing, missingKeys(named, found, secret))
	}
	if name := at.ClaimName; name != "" && !o.FindLive(ctx, name, &corev1.PersistentVolumeClaim{}) {
		o.Missing = fmt.Sprintf("PersistentVolumeClaim %s in claimName of the destination does not exist: create it", name)
	}
}

func missingKeys(named state.DestinationSecret, found bool, secret *corev1.Secret) string {
	if !found {
		return fmt.Sprintf("Secret %s in %s of the destination does not exist: create it", named.Name, named.Field)
	}
	for _, key := range named.Keys {
		if len(secret.Data[key]) == 0 {
			return fmt.Sprintf("Secret %s in %s of the destination lacks the key %s: add it", named.Name, named.Field, key)
		}
	}
	return ""
}
