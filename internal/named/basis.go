/*
SPDX-License-Identifier: Apache-2.0
*/

// Package named observes the DatabaseCluster that an object of another kind names.
package named

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// IndexBackups is the index of the cache for the DatabaseBackups of a cluster, by its name. A list by labels alone would compare every
// object of the namespace.
const IndexBackups = "backups-spec-cluster"

// Basis is what the Jobs of that object are built from.
type Basis struct {
	// Cluster is the effective cluster; nil if it does not exist.
	Cluster *dbv1.DatabaseCluster
	// Engine is the engine of the cluster, or the one that its object needs instead; nil if it does not exist.
	Engine *dbv1.DatabaseEngine
	// AccountProblem is why no Job may run as the ServiceAccount that the operator creates for the cluster; "" if Jobs may.
	AccountProblem string
	// Members are the cluster's pods.
	Members []state.Member
	// Fresh are the replicas that are known to have nearly all data of the primary. Their reports change every few seconds, so no
	// change of them starts a pass.
	Fresh []string
	// Extent are the members that the cluster's StatefulSet runs.
	Extent state.Extent
	// EndOrdinal is the ordinal after the last member that the cluster's StatefulSet re-creates.
	EndOrdinal int32
	// NextImage is the image of a member that the StatefulSet re-creates now, because it is missing or terminating; "" for none.
	NextImage string
	// Abandoned is true if this StatefulSet does not exist or is terminating: Kubernetes is about to stop the pods that it controls.
	Abandoned bool
	// Foreign is true if this StatefulSet has another owner. Then claims with the names of the cluster's claims may
	// have that owner, too.
	Foreign bool
}

// ClusterFacts are the fields of a cluster that are used. A copy of its data needs the size and the resources that the operator has
// decided.
func ClusterFacts(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	facts := &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: cluster.Name, UID: cluster.UID, DeletionTimestamp: cluster.DeletionTimestamp,
		},
		Spec:   cluster.Spec,
		Status: dbv1.DatabaseClusterStatus{Replacement: cluster.Status.Replacement}, // it names the volumes
	}
	situation.Decided(&facts.Spec, cluster)
	return facts
}

// SetFacts are the fields of a StatefulSet that are read.
func SetFacts(set *appsv1.StatefulSet) any {
	return []any{endOrdinal(set), state.ExtentOf(set), templateImage(set), set.Spec.Template.Annotations[dbv1.AnnotationEngine]}
}

// noteStatefulSet records whether the StatefulSet is the cluster's own, of another owner, or about to be deleted.
func (b *Basis) noteStatefulSet(set *appsv1.StatefulSet) (own bool) {
	found := set != nil
	if found {
		b.EndOrdinal = endOrdinal(set)
	}
	b.Extent = state.ExtentOf(set)
	own = found && metav1.IsControlledBy(set, b.Cluster)
	b.Foreign, b.Abandoned = found && !own, !found || set.DeletionTimestamp != nil
	return own
}

// incomplete reports whether the StatefulSet has to re-create a member.
func (b *Basis) incomplete() bool {
	stay := state.Only(b.Members, func(m state.Member) bool { return m.Ordinal < b.EndOrdinal && !m.Terminating })
	return int32(len(stay)) < b.EndOrdinal
}

// useImage uses the image that the members run, or will be created with. During a blocked or paused rollout, that
// differs from the spec. The image of a backup is the image that wrote its data.
//
// While the cluster is deleted, nothing is rolled out. Without members the spec decides then, because a user can
// correct the spec but not the StatefulSet.
func (b *Basis) useImage(set *appsv1.StatefulSet, own bool) {
	if own && b.incomplete() {
		b.NextImage = templateImage(set)
	}
	image := ""
	switch {
	case !own:
	case len(b.Members) > 0:
		image = b.Members[0].Image
	case b.Cluster.DeletionTimestamp == nil:
		image = templateImage(set)
	}
	if image != "" {
		b.Cluster.Spec.Image = image
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
