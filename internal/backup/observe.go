/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups;databaseclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=get,roleName=manager-cluster-role
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims;secrets;serviceaccounts,verbs=get
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
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
		o.readMembers(ctx)
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
	uid := string(o.backup.UID)
	labels := client.MatchingLabels{dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelBackupUID: uid}
	list, pods := &batchv1.JobList{}, &corev1.PodList{}
	o.List(ctx, list, ofBackups.Label, uid, labels)
	o.List(ctx, pods, ofBackups.Label, uid, labels)
	if o.Err != nil {
		return
	}
	o.Stray = stray(list.Items, pods.Items)
	for i := range list.Items {
		o.Jobs = append(o.Jobs, jobs.Observe(ctx, logs, &list.Items[i], pods.Items, o.At))
	}
	slices.SortFunc(o.Jobs, func(a, b jobs.Job) int { return cmp.Compare(a.Name, b.Name) })
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
		o.Engine = o.findEngine(ctx, cluster.Spec.Engine)
	} else {
		o.readSet(ctx)
		cluster = o.withEngineInForce(ctx, cluster)
	}
	if found {
		o.Cluster = engine.Resolve(facts(cluster), o.Engine)
		o.readServiceAccount(ctx)
	}
}

// readServiceAccount checks the ServiceAccount that the operator creates for the cluster, which is not watched.
func (o *observation) readServiceAccount(ctx context.Context) {
	if !pods.GeneratesServiceAccount(o.Cluster) {
		return
	}
	account := &corev1.ServiceAccount{}
	if !o.FindLive(ctx, naming.ServiceAccount(o.Cluster.Name), account) || !state.IsServiceAccountOf(o.Cluster.Name, account) {
		account = nil
	}
	o.AccountProblem = pods.ServiceAccountProblem(o.Cluster, account)
}

// facts are the fields of a cluster that are used.
func facts(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	return &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: cluster.Name, UID: cluster.UID, DeletionTimestamp: cluster.DeletionTimestamp,
		},
		Spec: cluster.Spec,
	}
}

// readSet reads the StatefulSet that may re-create members.
func (o *observation) readSet(ctx context.Context) {
	set := &appsv1.StatefulSet{}
	if o.Find(ctx, naming.StatefulSet(o.backup.Spec.Cluster), set) {
		o.set = set
	}
}

// readMembers reads the cluster's pods, and what their StatefulSet shows.
func (o *observation) readMembers(ctx context.Context) {
	if o.Cluster == nil {
		return
	}
	own := o.noteStatefulSet()
	pods := &corev1.PodList{}
	o.List(ctx, pods, indexCluster, o.Cluster.Name, client.MatchingLabels(naming.Selector(o.Cluster.Name)))
	if o.Err == nil {
		o.fence(pods.Items)
	}
	all := make([]*corev1.Pod, 0, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		all = append(all, pod)
		// The StatefulSet may have adopted a pod of the previous cluster of the same name.
		member := types.UID(pod.Labels[dbv1.LabelClusterUID]) == o.Cluster.UID || own && metav1.IsControlledBy(pod, o.set)
		if ordinal, ok := naming.Ordinal(o.Cluster.Name, pod.Name); ok && member {
			o.Members = append(o.Members, state.MemberOf(pod, ordinal))
		}
	}
	o.Fresh = state.Fresh(o.Cluster, o.Engine, all)
	o.readImage(own)
}

// noteStatefulSet records whether the StatefulSet is the cluster's own, of another owner, or about to be deleted.
func (o *observation) noteStatefulSet() (own bool) {
	found := o.set != nil
	if found {
		o.EndOrdinal = endOrdinal(o.set)
	}
	o.Extent = state.ExtentOf(o.set)
	own = found && metav1.IsControlledBy(o.set, o.Cluster)
	o.Foreign, o.Abandoned = found && !own, !found || o.set.DeletionTimestamp != nil
	return own
}

// incomplete reports whether the StatefulSet has to re-create a member.
func (o *observation) incomplete() bool {
	stay := state.Only(o.Members, func(m state.Member) bool { return m.Ordinal < o.EndOrdinal && !m.Terminating })
	return int32(len(stay)) < o.EndOrdinal
}

// readImage reads the image that the members run, or will be created with. During a blocked or paused rollout, that
// differs from the spec. The image of a backup is the image that wrote its data.
//
// While the cluster is deleted, nothing is rolled out. Without members the spec decides then, because a user can
// correct the spec but not the StatefulSet.
func (o *observation) readImage(own bool) {
	if own && o.incomplete() {
		o.NextImage = templateImage(o.set)
	}
	image := ""
	switch {
	case !own:
	case len(o.Members) > 0:
		image = o.Members[0].Image
	case o.Cluster.DeletionTimestamp == nil:
		image = templateImage(o.set)
	}
	if image != "" {
		o.Cluster.Spec.Image = image
	}
}

func templateImage(set *appsv1.StatefulSet) string {
	for _, c := range set.Spec.Template.Spec.Containers {
		if c.Name == naming.Container {
			return c.Image
		}
	}
	return ""
}

// fence identifies the stop of the members of a cluster that is being deleted. It considers every pod with their
// labels, whatever its creator.
func (o *observation) fence(pods []corev1.Pod) {
	runs := func(pod corev1.Pod) bool { return !state.BystanderOf(&pod).Ended }
	if o.Cluster.DeletionTimestamp != nil && !o.Foreign && !slices.ContainsFunc(pods, runs) {
		o.Fence = state.Fence(o.set)
	}
}

// endOrdinal is the ordinal after the last member that a StatefulSet re-creates. If its controller has not observed the last change
// of replicas, any number is possible.
func endOrdinal(set *appsv1.StatefulSet) int32 {
	switch {
	case set.DeletionTimestamp != nil:
		return 0
	case set.Status.ObservedGeneration < set.Generation:
		return math.MaxInt32
	case set.Spec.Replicas == nil:
		return 1
	default:
		return state.Observed{StatefulSet: set}.End()
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
