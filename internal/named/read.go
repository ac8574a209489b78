/*
SPDX-License-Identifier: Apache-2.0
*/

package named

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=get,roleName=manager-cluster-role
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch

// InForce reads the engine of the cluster, and returns the cluster with it, and the StatefulSet that may re-create members; nil if it does
// not exist. While the operator refuses a change of spec.engine, that is the engine of the data: the other one would back up one member of
// several, or several copies of one database.
func (b *Basis) InForce(ctx context.Context, from *kit.Reading,
	cluster *dbv1.DatabaseCluster) (*dbv1.DatabaseCluster, *appsv1.StatefulSet) {
	set := &appsv1.StatefulSet{}
	if !from.Find(ctx, naming.StatefulSet(cluster.Name), set) {
		set = nil
	}
	asked := engine.Named{Name: cluster.Spec.Engine, Declared: Engine(ctx, from, cluster.Spec.Engine)}
	b.Engine = asked.Declared
	if set == nil || !metav1.IsControlledBy(set, cluster) {
		return cluster, set
	}
	cluster = state.Observed{StatefulSet: set}.WithVolumes(cluster)
	name, differs := state.Observed{StatefulSet: set}.EngineOfData(cluster.UID, asked.Name)
	if !differs {
		return cluster, set
	}
	data := engine.Named{Name: name, Declared: Engine(ctx, from, name)}
	change := engine.ChangeOf(data, asked)
	if change != nil {
		b.Engine = data.Declared
	}
	return change.InForce(cluster), set
}

// Engine reads an engine; nil if it does not exist.
func Engine(ctx context.Context, from *kit.Reading, name string) *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	if name == "" || !from.FindOutside(ctx, name, declared) {
		return nil
	}
	return declared
}

// Resolve resolves the cluster, and checks the ServiceAccount that the operator creates for it, which is not watched.
func (b *Basis) Resolve(ctx context.Context, from *kit.Reading, cluster *dbv1.DatabaseCluster) {
	b.Cluster = engine.Resolve(ClusterFacts(cluster), b.Engine)
	if !pods.GeneratesServiceAccount(b.Cluster) {
		return
	}
	account := &corev1.ServiceAccount{}
	if !from.FindLive(ctx, naming.ServiceAccount(b.Cluster.Name), account) || !state.IsServiceAccountOf(b.Cluster.Name, account) {
		account = nil
	}
	b.AccountProblem = pods.ServiceAccountProblem(b.Cluster, account)
}

// ReadMembers reads the cluster's pods, if it exists, and what their StatefulSet shows. It returns every pod with their labels, whatever
// its creator.
func (b *Basis) ReadMembers(ctx context.Context, from *kit.Reading, set *appsv1.StatefulSet) []corev1.Pod {
	if b.Cluster == nil {
		return nil
	}
	own := b.noteStatefulSet(set)
	pods := &corev1.PodList{}
	from.List(ctx, pods, subject.IndexCluster, b.Cluster.Name, client.MatchingLabels(naming.Selector(b.Cluster.Name)))
	all := make([]*corev1.Pod, 0, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		all = append(all, pod)
		// The StatefulSet may have adopted a pod of the previous cluster of the same name.
		member := types.UID(pod.Labels[dbv1.LabelClusterUID]) == b.Cluster.UID || own && metav1.IsControlledBy(pod, set)
		if ordinal, ok := naming.Ordinal(b.Cluster.Name, pod.Name); ok && member {
			b.Members = append(b.Members, state.MemberOf(pod, ordinal))
		}
	}
	b.Fresh = state.Fresh(b.Cluster, b.Engine, all)
	b.useImage(set, own)
	return pods.Items
}
