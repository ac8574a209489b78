/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch

// view is where a pass reads from.
type view struct {
	client.Reader
	// fallback is asked for what the first does not have: the cache holds only what carries our labels,
	// and lags behind. Nil when the first is the API server itself.
	fallback client.Reader
}

func (r *Reconciler) view() view     { return view{Reader: r.Cached, fallback: r.Live} }
func (r *Reconciler) liveView() view { return view{Reader: r.Live} }

// find reads an object into the given one and tells whether it exists.
func (v view) find(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := v.Get(ctx, key, object)
	if apierrors.IsNotFound(err) && v.fallback != nil {
		err = v.fallback.Get(ctx, key, object)
	}
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %T %s: %w", object, key.Name, err)
	}
	return true, nil
}

// observe reads a cluster and all that belongs to it. The cluster is nil when it is gone.
func (r *Reconciler) observe(ctx context.Context, from view, key client.ObjectKey) (*dbv1.DatabaseCluster, state.Observed, error) {
	cluster := &dbv1.DatabaseCluster{}
	if err := from.Get(ctx, key, cluster); err != nil {
		return nil, state.Observed{}, client.IgnoreNotFound(err)
	}
	o := &observation{view: from, cluster: cluster, Observed: state.Observed{At: r.Clock.Now()}}
	o.HeadlessService = child(ctx, o, state.Ref{Kind: "Service", Name: naming.HeadlessService(key.Name)}, state.ServiceFacts)
	o.Service = child(ctx, o, state.Ref{Kind: "Service", Name: naming.Service(key.Name)}, state.ServiceFacts)
	o.PodDisruptionBudget = child(ctx, o, state.Ref{Kind: "PodDisruptionBudget", Name: naming.PodDisruptionBudget(key.Name)}, state.PodDisruptionBudgetFacts)
	o.StatefulSet = child(ctx, o, state.Ref{Kind: "StatefulSet", Name: naming.StatefulSet(key.Name)}, state.StatefulSetFacts)
	o.readMembers(ctx)
	if cluster.DeletionTimestamp != nil {
		o.readHooks(ctx)
	}
	return cluster, o.Observed, o.err
}

// observation collects what is read; after the first error it reads no more.
type observation struct {
	view
	cluster *dbv1.DatabaseCluster
	state.Observed
	err error
}

// child reads an object that the cluster should own: nil when it does not exist, or is somebody else's,
// which is noted.
func child[T any, Object interface {
	*T
	client.Object
}](ctx context.Context, o *observation, ref state.Ref, facts func(Object) Object) Object {
	object := Object(new(T))
	if !o.exists(ctx, ref.Name, object) {
		return nil
	}
	if !metav1.IsControlledBy(object, o.cluster) {
		o.Foreign = append(o.Foreign, ref)
		return nil
	}
	return facts(object)
}

func (o *observation) exists(ctx context.Context, name string, object client.Object) bool {
	if o.err != nil {
		return false
	}
	var found bool
	found, o.err = o.find(ctx, client.ObjectKey{Namespace: o.cluster.Namespace, Name: name}, object)
	return found
}

// readMembers reads the pods of this cluster; those of an earlier one of the same name are not its own.
func (o *observation) readMembers(ctx context.Context) {
	if o.err != nil {
		return
	}
	pods := &corev1.PodList{}
	labels := client.MatchingLabels(naming.Selector(o.cluster.Name))
	if err := o.List(ctx, pods, client.InNamespace(o.cluster.Namespace), labels); err != nil {
		o.err = fmt.Errorf("list the pods of %s: %w", o.cluster.Name, err)
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if ordinal, ok := naming.Ordinal(o.cluster.Name, pod.Name); ok && o.isMember(pod) {
			o.Members = append(o.Members, state.MemberOf(pod, ordinal))
		}
	}
	slices.SortFunc(o.Members, func(a, b state.Member) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}

// isMember tells whether a pod is the StatefulSet's; where that is gone, as after a foreground deletion,
// whether it was made for this cluster.
func (o *observation) isMember(pod *corev1.Pod) bool {
	if o.StatefulSet != nil {
		return metav1.IsControlledBy(pod, o.StatefulSet)
	}
	return types.UID(pod.Labels[dbv1.LabelClusterUID]) == o.cluster.UID
}

// readHooks reads the Jobs of the deletion hooks. They have no owner; the UID in their label tells whose
// they are.
func (o *observation) readHooks(ctx context.Context) {
	o.Hooks = map[string]state.Hook{}
	for _, hook := range o.cluster.Spec.Deletion.Hooks {
		job := &batchv1.Job{}
		name := naming.HookJob(o.cluster.Name, hook.Name, o.cluster.UID)
		switch {
		case !o.exists(ctx, name, job):
		case types.UID(job.Labels[dbv1.LabelClusterUID]) != o.cluster.UID:
			o.Foreign = append(o.Foreign, state.Ref{Kind: "Job", Name: name})
		default:
			o.Hooks[hook.Name] = state.HookOf(job)
		}
	}
}
