/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services;pods;persistentvolumeclaims;configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch

// Observe reads all objects of a cluster.
func (r *Reconciler) Observe(ctx context.Context, cluster *dbv1.DatabaseCluster, from kit.Reading) (*situation.Situation, error) {
	if !from.Uncached && !isNew(cluster) {
		from.View = from.Else(r.Live)
	}
	o := &observation{live: from.Uncached, ClusterReading: subject.ClusterReading{
		Reading: from, Cluster: cluster, Logs: r.Logs,
		TransferImage: r.TransferImage, ClusterDomain: r.ClusterDomain, Policies: r.Policies, Others: r.Cache().Else(r.Live),
		Kinds: r.Writer.Client.RESTMapper(), Meter: r.Meter,
		Observed: state.Observed{At: r.Clock.Now(), Uptime: r.uptime()},
	}}
	o.read(ctx, r)
	if o.Err != nil {
		return nil, o.Err
	}
	s := situation.Of(cluster, o.Observed)
	s.Comparisons = r.Comparisons
	return s, nil
}

// isNew reports whether a pass is the first one of a cluster. Then the creation of an object shows that its name is taken, and a look
// before it would find nothing.
func isNew(cluster *dbv1.DatabaseCluster) bool {
	return !controllerutil.ContainsFinalizer(cluster, dbv1.Finalizer) && cluster.DeletionTimestamp == nil && !cluster.Spec.Paused
}

func (o *observation) read(ctx context.Context, r *Reconciler) {
	name := o.Cluster.Name
	o.HeadlessService = subject.Child(ctx, &o.ClusterReading, state.Ref{Kind: "Service", Name: naming.HeadlessService(name)},
		state.ServiceFacts)
	o.Service = subject.Child(ctx, &o.ClusterReading, state.Ref{Kind: "Service", Name: naming.Service(name)}, state.ServiceFacts)
	o.PodDisruptionBudget = subject.Child(ctx, &o.ClusterReading,
		state.Ref{Kind: "PodDisruptionBudget", Name: naming.PodDisruptionBudget(name)}, state.PodDisruptionBudgetFacts)
	o.StatefulSet = subject.Child(ctx, &o.ClusterReading, state.Ref{Kind: "StatefulSet", Name: naming.StatefulSet(name)},
		state.StatefulSetFacts)
	restores := o.readRestores(ctx)
	o.readPods(ctx)
	o.readUnready(ctx)
	o.readNodes(ctx, r)
	o.readOtherBudgets(ctx, r.Cache())
	o.readVolumes(ctx)
	o.readPreviousStatefulSet(ctx)
	o.readEngine(ctx)
	o.readPrimaryBudget(ctx, r.Cache())
	if engine.HasRoles(o.Engine) {
		o.ReplicasService = subject.Child(ctx, &o.ClusterReading, state.Ref{Kind: "Service", Name: naming.ReplicasService(name)},
			state.ServiceFacts)
	}
	o.readTasks(ctx)
	o.readKept(ctx)
	o.readRestore(ctx, r)
	if o.Cluster.DeletionTimestamp != nil {
		o.readHooks(ctx)
		o.readHookReferences(ctx)
		o.readGenerated(ctx)
		o.readNamespace(ctx, r)
	} else {
		o.readConfigs(ctx)
		o.readReferences(ctx)
		o.readPreviousJobs(ctx)
		o.readReplacement(ctx, r, restores)
	}
	for _, read := range plan.Reads() {
		read(ctx, &o.ClusterReading)
	}
	o.readAgreements(ctx)
}

// observation collects the facts that are read.
type observation struct {
	subject.ClusterReading
	// live is true if the cache is not read.
	live bool
}

// readPods reads the pods with the cluster's labels, without those of the previous cluster of the same name. It only reads them, so the
// cache need not copy them.
func (o *observation) readPods(ctx context.Context) {
	pods := &corev1.PodList{}
	o.Labeled(ctx, pods, map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: o.Cluster.Name},
		client.UnsafeDisableDeepCopy)
	for i := range pods.Items {
		pod := &pods.Items[i]
		ordinal, named := naming.Ordinal(o.Cluster.Name, pod.Name)
		if named && pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase && o.isMember(pod) {
			o.Members = append(o.Members, state.MemberOf(pod, ordinal).AsOf(o.At))
		} else {
			o.Bystanders = append(o.Bystanders, state.BystanderOf(pod))
		}
	}
	slices.SortFunc(o.Members, func(a, b state.Member) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}

// readUnready reads why members are not ready.
func (o *observation) readUnready(ctx context.Context) {
	for i, m := range o.Members {
		o.Members[i] = o.Hear(ctx, m)
	}
}

// isMember reports whether the StatefulSet owns a pod. If the StatefulSet no longer exists, as after a foreground
// deletion, the pod's label decides.
func (o *observation) isMember(pod *corev1.Pod) bool {
	if o.StatefulSet != nil {
		return metav1.IsControlledBy(pod, o.StatefulSet)
	}
	return types.UID(pod.Labels[dbv1.LabelClusterUID]) == o.Cluster.UID
}

// readVolumes reads the claims of the data volumes. They have no owner reference and outlive the cluster. The name
// of a claim determines the member that uses it, whatever its owner was.
//
// So a claim without labels, as after a restore from a snapshot, counts if a member uses it.
func (o *observation) readVolumes(ctx context.Context) {
	claims := &corev1.PersistentVolumeClaimList{}
	o.Labeled(ctx, claims, naming.Selector(o.Cluster.Name), client.UnsafeDisableDeepCopy)
	o.ClaimTemplates = state.ClaimTemplatesOf(o.Cluster.Name, claims.Items)
	o.Cluster = o.WithVolumes(o.Cluster)
	for i := range claims.Items {
		if ordinal, ok := naming.ClaimOrdinal(o.Cluster, claims.Items[i].Name); ok {
			o.Volumes = append(o.Volumes, state.VolumeOf(&claims.Items[i], ordinal))
		}
	}
	o.readUnlabeled(ctx)
	slices.SortFunc(o.Volumes, func(a, b state.Volume) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}

// readUnlabeled reads the claims that are missing from the list although members use them, or the status records their data. A user may
// have removed their labels. The claim of a new pod may not be in the cache yet.
func (o *observation) readUnlabeled(ctx context.Context) {
	if o.StatefulSet != nil && len(o.StatefulSet.Spec.VolumeClaimTemplates) > 0 {
		for _, m := range o.Members {
			if !m.Created.Add(state.Steadily).After(o.At) {
				o.readClaim(ctx, m.Ordinal, func(claim *corev1.PersistentVolumeClaim) bool { return m.Mounts(claim.CreationTimestamp) })
			}
		}
	}
	for _, r := range o.Cluster.Status.Volumes {
		if ordinal, named := naming.ClaimOrdinal(o.Cluster, r.Claim); named {
			o.readClaim(ctx, ordinal, func(claim *corev1.PersistentVolumeClaim) bool { return r.UID == string(claim.UID) })
		}
	}
}

// readClaim reads a claim by its name, if it is missing from the list.
func (o *observation) readClaim(ctx context.Context, ordinal int32, counts func(*corev1.PersistentVolumeClaim) bool) {
	claim := &corev1.PersistentVolumeClaim{}
	listed := slices.ContainsFunc(o.Volumes, func(v state.Volume) bool { return v.Ordinal == ordinal })
	if listed || !o.FindLive(ctx, naming.Claim(o.Cluster, ordinal), claim) || !counts(claim) {
		return
	}
	volume := state.VolumeOf(claim, ordinal)
	volume.Unwatched = !labels.SelectorFromSet(naming.Selector(o.Cluster.Name)).Matches(labels.Set(claim.Labels))
	o.Volumes = append(o.Volumes, volume)
}

// readConfigs reads the ConfigMaps of spec.config, including those with previous files.
func (o *observation) readConfigs(ctx context.Context) {
	selector := naming.Selector(o.Cluster.Name)
	selector[dbv1.LabelComponent] = dbv1.ComponentConfig
	configs := &corev1.ConfigMapList{}
	o.Labeled(ctx, configs, selector)
	for i := range configs.Items {
		if metav1.IsControlledBy(&configs.Items[i], o.Cluster) {
			o.Configs = append(o.Configs, state.ConfigMapFacts(&configs.Items[i]))
		}
	}
	name := pods.ConfigMapName(o.Cluster)
	if name != "" && !slices.ContainsFunc(o.Configs, func(c *corev1.ConfigMap) bool { return c.Name == name }) {
		if config := subject.Child(ctx, &o.ClusterReading, state.Ref{Kind: "ConfigMap", Name: name}, state.ConfigMapFacts); config != nil {
			o.Configs = append(o.Configs, config)
		}
	}
	slices.SortFunc(o.Configs, func(a, b *corev1.ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
}
