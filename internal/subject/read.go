/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Read adds facts to those of a pass. An error is in the Reading: after the first one it reads no more, and nothing is decided.
type Read func(context.Context, *ClusterReading)

// Watches are the changes of objects that start a pass, and the indexes by which the cache finds objects.
type Watches struct {
	Objects []kit.Watch
	Indexes []kit.Index
}

// RepairDelay is how long a change waits of an object that only the operator writes. A change by another client is repaired at once. A new
// object needs no repair: usually the operator has created it itself.
func RepairDelay(before, _ client.Object) time.Duration {
	if before == nil {
		return kit.StatusDelay
	}
	return 0
}

// ClusterReading collects the facts of a pass for a cluster.
type ClusterReading struct {
	kit.Reading
	Cluster *dbv1.DatabaseCluster
	// Logs is nil if no log has to be read.
	Logs jobs.Logs
	// TransferImage is the image with the transfer binary, ClusterDomain the domain of the DNS names of Services.
	TransferImage, ClusterDomain string
	// Policies are the names of the admission policies that protect clusters, and of their bindings.
	Policies []string
	// Kinds are those that the API server serves.
	Kinds meta.RESTMapper
	// Meter measures volumes; nil where none is measured.
	Meter Meter
	// Others reads objects of other clusters from the cache.
	Others kit.View
	state.Observed
}

// IndexCluster is the name of the index by which the cache finds objects with a cluster's label. A list by labels alone compares every
// object of the namespace, so a pass would cost more with every cluster.
const IndexCluster = "cluster"

// ClusterName is the value of that index.
func ClusterName(object client.Object) []string {
	return []string{object.GetLabels()[dbv1.LabelInstance]}
}

// IndexOthers is the name of the index of the PodDisruptionBudgets of others. Most namespaces have none.
const IndexOthers = "others"

// OfOthers is the value of that index.
func OfOthers(budget client.Object) []string {
	if !ofOthers(budget) {
		return nil
	}
	return []string{"true"}
}

// Hear returns a pod with why it is not ready, as its probe reports. If the events cannot be read, only the explanation is missing.
func (r *ClusterReading) Hear(ctx context.Context, m state.Member) state.Member {
	if r.Logs == nil || !m.Silent(r.At) {
		return m
	}
	message, err := r.Logs.Unready(ctx, r.Cluster.Namespace, m.UID)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("cannot read why a pod is not ready", "pod", m.Name, "cause", err.Error())
	}
	return m.Hear(message)
}

// Labeled reads the objects of the cluster with all these labels.
func (r *ClusterReading) Labeled(ctx context.Context, into client.ObjectList, labels map[string]string, options ...client.ListOption) {
	r.List(ctx, into, IndexCluster, r.Cluster.Name, append(options, client.MatchingLabels(labels))...)
}

// Child reads an object that the cluster should own: nil if it does not exist. If another owner has it, that is nil, too, and a name
// conflict is recorded.
func Child[T any, Object interface {
	*T
	client.Object
}](ctx context.Context, r *ClusterReading, ref state.Ref, facts func(Object) Object) Object {
	object := Object(new(T))
	return Owned(r, ref, object, r.Find(ctx, ref.Name, object), facts)
}

// Owned is the part of Child after the read.
func Owned[Object client.Object](r *ClusterReading, ref state.Ref, object Object, found bool, facts func(Object) Object) (none Object) {
	if !found {
		return none
	}
	if !metav1.IsControlledBy(object, r.Cluster) {
		r.Conflict(ref, object)
		return none
	}
	return facts(object)
}

// Conflict records that another owner has an object of a name that the cluster needs.
func (r *ClusterReading) Conflict(ref state.Ref, object metav1.Object) {
	owner := metav1.GetControllerOfNoCopy(object)
	ref.OfPreviousCluster = owner != nil && owner.Kind == "DatabaseCluster" && owner.Name == r.Cluster.Name
	r.Foreign = append(r.Foreign, ref)
}

// Made reads an object without an owner reference and reports whether it belongs to this cluster. It records a name conflict.
func (r *ClusterReading) Made(ctx context.Context, ref state.Ref, object client.Object) bool {
	if !r.Find(ctx, ref.Name, object) {
		return false
	}
	if types.UID(object.GetLabels()[dbv1.LabelClusterUID]) != r.Cluster.UID {
		r.Foreign = append(r.Foreign, ref)
		return false
	}
	return true
}

// JobNamed reads a Job of an action, without an owner reference and its pods; found is false if the cluster has none of that name.
func (r *ClusterReading) JobNamed(ctx context.Context, kind jobs.ActionKind, name string) (object *batchv1.Job, seen jobs.Job, found bool) {
	object = &batchv1.Job{}
	if !r.Made(ctx, state.Ref{Kind: "Job", Name: name}, object) {
		return nil, jobs.Job{}, false
	}
	return object, r.Job(ctx, kind, object), true
}

// Job reads the pods of a Job, without pods of a previous Job of the same name.
func (r *ClusterReading) Job(ctx context.Context, kind jobs.ActionKind, job *batchv1.Job) jobs.Job {
	pods := &corev1.PodList{}
	labels := naming.Selector(r.Cluster.Name)
	labels[dbv1.LabelComponent] = job.Labels[dbv1.LabelComponent]
	labels[batchv1.ControllerUidLabel] = string(job.UID)
	r.Labeled(ctx, pods, labels)
	if r.Err != nil {
		return jobs.Of(job, pods.Items)
	}
	seen := jobs.Observe(ctx, r.Logs, job, pods.Items, r.At)
	return seen.ResourcesIn(kind.FieldOfResources(r.Cluster))
}
