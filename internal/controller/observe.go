/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;pods;persistentvolumeclaims;configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch

// view is where a pass reads from.
type view struct {
	client.Reader
	// fallback is asked for what the first does not have: the cache holds only what carries our labels,
	// and lags behind. Nil when the first is the API server itself.
	fallback client.Reader
	// indexed tells that the first finds objects by the index indexCluster.
	indexed bool
}

func (r *Reconciler) view() view     { return view{Reader: r.Cached, fallback: r.Live, indexed: r.indexed} }
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
	o := &observation{view: from, cluster: cluster, logs: r.Logs, Observed: state.Observed{At: r.Clock.Now()}}
	o.readEngine(ctx, r.Live)
	o.HeadlessService = child(ctx, o, state.Ref{Kind: "Service", Name: naming.HeadlessService(key.Name)}, state.ServiceFacts)
	o.Service = child(ctx, o, state.Ref{Kind: "Service", Name: naming.Service(key.Name)}, state.ServiceFacts)
	o.PodDisruptionBudget = child(ctx, o, state.Ref{Kind: "PodDisruptionBudget", Name: naming.PodDisruptionBudget(key.Name)}, state.PodDisruptionBudgetFacts)
	o.StatefulSet = child(ctx, o, state.Ref{Kind: "StatefulSet", Name: naming.StatefulSet(key.Name)}, state.StatefulSetFacts)
	o.readPods(ctx)
	o.readVolumes(ctx, r.Live)
	o.readProtection(ctx, r.Live, r.Policies)
	o.readRestore(ctx, r)
	o.readBackups(ctx, r.view())
	if cluster.DeletionTimestamp != nil {
		o.readHooks(ctx)
		o.readHookReferences(ctx, r.Live)
		o.readNamespace(ctx, r)
	} else {
		o.readConfigs(ctx)
		o.readReferences(ctx, r.Live)
		o.readFormer(ctx, r.Live)
		o.readFormerJobs(ctx)
	}
	return cluster, o.Observed, o.err
}

// observation collects what is read; after the first error it reads no more.
type observation struct {
	view
	cluster *dbv1.DatabaseCluster
	// logs are nil where nothing is to be read of them.
	logs kit.Logs
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
		ref.Leaving = namesake(object, o.cluster)
		o.Foreign = append(o.Foreign, ref)
		return nil
	}
	return facts(object)
}

// namesake tells whether an object belongs to a former cluster of the same name.
func namesake(object metav1.Object, cluster *dbv1.DatabaseCluster) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.Kind == "DatabaseCluster" && owner.Name == cluster.Name
}

func (o *observation) exists(ctx context.Context, name string, object client.Object) bool {
	if o.err != nil {
		return false
	}
	var found bool
	found, o.err = o.find(ctx, client.ObjectKey{Namespace: o.cluster.Namespace, Name: name}, object)
	return found
}

// list reads what bears all these labels.
func (o *observation) list(ctx context.Context, into client.ObjectList, labels map[string]string) {
	if o.err != nil {
		return
	}
	options := []client.ListOption{client.InNamespace(o.cluster.Namespace), client.MatchingLabels(labels)}
	if o.indexed {
		options = append(options, client.MatchingFields{indexCluster: o.cluster.Name})
	}
	if err := o.List(ctx, into, options...); err != nil {
		o.err = fmt.Errorf("list %T of %s: %w", into, o.cluster.Name, err)
	}
}

// readPods reads the pods that bear the cluster's name; those of an earlier one of the same name are not its own.
func (o *observation) readPods(ctx context.Context) {
	pods := &corev1.PodList{}
	o.list(ctx, pods, map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: o.cluster.Name})
	for i := range pods.Items {
		pod := &pods.Items[i]
		ordinal, named := naming.Ordinal(o.cluster.Name, pod.Name)
		if named && pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase && o.isMember(pod) {
			o.Members = append(o.Members, state.MemberOf(pod, ordinal))
		} else {
			o.Bystanders = append(o.Bystanders, state.BystanderOf(pod))
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

// readVolumes reads the claims of the data volumes. They have no owner and outlive a cluster: the name
// tells which member takes one up, whoever's it was before. So one that bears no labels, as after a restore
// from a snapshot, counts as well where a member uses it.
func (o *observation) readVolumes(ctx context.Context, live client.Reader) {
	claims := &corev1.PersistentVolumeClaimList{}
	o.list(ctx, claims, naming.Selector(o.cluster.Name))
	for i := range claims.Items {
		if ordinal, ok := naming.ClaimOrdinal(o.cluster.Name, claims.Items[i].Name); ok {
			o.Volumes = append(o.Volumes, state.VolumeOf(&claims.Items[i], ordinal))
		}
	}
	o.readUnlabelled(ctx, live)
	slices.SortFunc(o.Volumes, func(a, b state.Volume) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}

// readUnlabelled reads the claims that members use and that the list did not have. That of a pod that was
// made a moment ago may just not be in the cache yet.
func (o *observation) readUnlabelled(ctx context.Context, live client.Reader) {
	if o.StatefulSet == nil || len(o.StatefulSet.Spec.VolumeClaimTemplates) == 0 {
		return
	}
	for _, m := range o.Members {
		listed := slices.ContainsFunc(o.Volumes, func(v state.Volume) bool { return v.Ordinal == m.Ordinal })
		if listed || o.err != nil || m.Created.Add(state.Steadily).After(o.At) {
			continue
		}
		claim, found := &corev1.PersistentVolumeClaim{}, false
		key := client.ObjectKey{Namespace: o.cluster.Namespace, Name: naming.Claim(o.cluster.Name, m.Ordinal)}
		if found, o.err = (view{Reader: live}).find(ctx, key, claim); found {
			volume := state.VolumeOf(claim, m.Ordinal)
			volume.Unwatched = true
			o.Volumes = append(o.Volumes, volume)
		}
	}
}

// readConfigs reads the ConfigMaps made for spec.config, those with former files, too.
func (o *observation) readConfigs(ctx context.Context) {
	labels := naming.Selector(o.cluster.Name)
	labels[dbv1.LabelComponent] = dbv1.ComponentConfig
	configs := &corev1.ConfigMapList{}
	o.list(ctx, configs, labels)
	for i := range configs.Items {
		if metav1.IsControlledBy(&configs.Items[i], o.cluster) {
			o.Configs = append(o.Configs, state.ConfigMapFacts(&configs.Items[i]))
		}
	}
	name := resources.ConfigMapName(o.cluster)
	if name != "" && !slices.ContainsFunc(o.Configs, func(c *corev1.ConfigMap) bool { return c.Name == name }) {
		if config := child(ctx, o, state.Ref{Kind: "ConfigMap", Name: name}, state.ConfigMapFacts); config != nil {
			o.Configs = append(o.Configs, config)
		}
	}
	slices.SortFunc(o.Configs, func(a, b *corev1.ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
}
