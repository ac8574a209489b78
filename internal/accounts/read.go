/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databases;databaseusers,verbs=get;list;watch

var (
	watches = []kit.Watch{
		{Object: &dbv1.Database{}, When: kit.Changed(func(o *dbv1.Database) any { return facts(OfDatabase(o)) }), MapFunc: clusterOf},
		{Object: &dbv1.DatabaseUser{}, When: kit.Changed(func(o *dbv1.DatabaseUser) any { return facts(OfUser(o)) }), MapFunc: clusterOf},
	}
	indexes = []kit.Index{
		{Kind: &dbv1.Database{}, Name: subject.IndexCluster, Value: ClusterName},
		{Kind: &dbv1.DatabaseUser{}, Name: subject.IndexCluster, Value: ClusterName},
	}
)

// facts are the fields of an object by which the cluster decides.
func facts(d Declared) any { return []any{d.Version(), d.Prepared()} }

// ClusterName is the name of the cluster of an object.
func ClusterName(object client.Object) []string {
	switch o := object.(type) {
	case *dbv1.Database:
		return []string{o.Spec.ClusterRef.Name}
	case *dbv1.DatabaseUser:
		return []string{o.Spec.ClusterRef.Name}
	default:
		return nil
	}
}

// read reads the declared objects, and the Jobs for them. Most clusters have neither, and both are in the cache.
func read(ctx context.Context, o *subject.ClusterReading) {
	cached := o.Reading
	cached.View = o.Others // a Job for an older declaration is followed by another one
	found := Facts{Image: o.TransferImage, Declared: List(ctx, &cached, o.Cluster.Name)}
	for i, d := range found.Declared {
		found.Declared[i] = d.In(o.Cluster.UID)
	}
	o.Err = cached.Err
	if len(found.Declared) > 0 || o.Cluster.Status.Objects != nil {
		for _, job := range JobsOf(ctx, &o.Reading, o.Cluster) {
			run := ObjectsRun{Job: o.Job(ctx, action, &job), Versions: VersionsOf(job.Annotations)}
			run.Occasion = job.Annotations[dbv1.AnnotationOccasion]
			run.Bare = !run.Ended() && !run.Started && bare(ctx, o, job.Spec.Template.Spec)
			found.Jobs = append(found.Jobs, run)
		}
	}
	state.Put(&o.Observed, found)
}

// bare reports whether the Secret with the declaration does not exist. It is not in the cache.
func bare(ctx context.Context, o *subject.ClusterReading, pod corev1.PodSpec) bool {
	for _, v := range pod.Volumes {
		if v.Name == naming.ObjectsVolume && v.Secret != nil {
			return !o.FindLive(ctx, v.Secret.SecretName, &corev1.Secret{})
		}
	}
	return false
}

// List reads the objects that name a cluster.
func List(ctx context.Context, from *kit.Reading, cluster string) (all []Declared) {
	databases, users := &dbv1.DatabaseList{}, &dbv1.DatabaseUserList{}
	from.List(ctx, databases, subject.IndexCluster, cluster)
	from.List(ctx, users, subject.IndexCluster, cluster)
	for i := range databases.Items {
		all = append(all, OfDatabase(&databases.Items[i]))
	}
	for i := range users.Items {
		all = append(all, OfUser(&users.Items[i]))
	}
	return slices.DeleteFunc(all, func(d Declared) bool { return d.Cluster != cluster }) // without an index, the list has all
}

// JobsOf reads the Jobs of a cluster for its databases and users, in the order of their creation.
func JobsOf(ctx context.Context, from *kit.Reading, cluster *dbv1.DatabaseCluster) []batchv1.Job {
	list, labels := &batchv1.JobList{}, naming.Selector(cluster.Name)
	labels[dbv1.LabelComponent], labels[dbv1.LabelClusterUID] = dbv1.ComponentObjects, string(cluster.UID)
	from.List(ctx, list, subject.IndexCluster, cluster.Name, client.MatchingLabels(labels))
	slices.SortFunc(list.Items, func(a, b batchv1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// clusterOf finds the cluster that an object names.
func clusterOf(_ context.Context, object client.Object) (all []reconcile.Request) {
	for _, name := range ClusterName(object) {
		all = append(all, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}})
	}
	return all
}
