/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// maxParameters is the number of parameters that the API server accepts.
const maxParameters = 64

// previewOf is a DatabaseCluster with the data of a source. Kubernetes deletes it with the restore, and the operator its volumes with it.
func previewOf(restore *dbv1.DatabaseRestore, seen RestoreFacts, from source) objects.Child {
	preview := &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: restore.Namespace, Name: naming.Preview(restore.Name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(restore, dbv1.GroupVersion.WithKind("DatabaseRestore"))},
		},
		Spec: apart(specOf(seen, from), naming.Preview(restore.Name)),
	}
	object := &unstructured.Unstructured{Object: objects.Fields(preview)}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	unstructured.RemoveNestedField(object.Object, "status")
	return objects.Child{Object: object}
}

// specOf has what the database needs to run, as the cluster runs it, with the engine and the image that wrote the data. It writes no backup
// and no archive.
func specOf(seen RestoreFacts, from source) dbv1.DatabaseClusterSpec {
	spec := *seen.Cluster.Spec.DeepCopy()
	if from.backup != nil {
		spec.Engine, spec.Image = cmp.Or(from.backup.Status.Engine, spec.Engine), cmp.Or(from.backup.Status.Image, spec.Image)
	}
	if spec.Backup != nil { // the Job of the restore has them
		spec.Helpers.Resources = pods.Over(spec.Helpers.Resources, spec.Backup.Resources)
	}
	spec.Replicas, spec.Paused, spec.Hibernated, spec.Backup, spec.Storage.Ephemeral = replicas(seen, from), false, false, nil, nil
	// The data needs the size and the resources that the operator has decided. Nothing decides further for the preview.
	situation.Decided(&spec, seen.Cluster)
	spec.Storage.AutoGrow, spec.AutoResize = nil, nil
	spec.UpdateStrategy, spec.Credentials.Rotation = dbv1.ClusterUpdateStrategy{}, dbv1.ClusterCredentialsRotation{}
	spec.Deletion = dbv1.ClusterDeletion{Volumes: dbv1.VolumesDelete}
	if spec.Engine == seen.Engine.Name { // another one may not have these parameters
		spec.Parameters = parameters(spec.Parameters, seen.Engine)
	}
	if spec.Bootstrap == nil {
		spec.Bootstrap = &dbv1.ClusterBootstrap{}
	}
	spec.Bootstrap.FromBackup = &from.BackupSource
	return spec
}

// parameters are those of the cluster, with the values of the engine for previews.
func parameters(all map[string]string, of *dbv1.DatabaseEngine) map[string]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	for _, p := range of.Spec.Parameters {
		if _, sets := all[p.Name]; p.Preview != "" && (sets || len(all) < maxParameters) {
			all[p.Name] = p.Preview
		}
	}
	return all
}

// replicas is how many members the preview needs: one has all data of members with one database.
func replicas(seen RestoreFacts, from source) int32 {
	switch {
	case from.backup != nil && from.backup.Status.Replicas > 1:
		return from.backup.Status.Replicas
	case from.backup != nil || engine.Related(seen.Engine):
		return max(1, seen.Engine.Spec.Replicas.Min)
	default:
		return seen.Cluster.Spec.Replicas
	}
}

// apart keeps clients of the cluster from the preview: it has neither the labels of the pods nor the load balancer, and its sidecars do not
// report for the cluster. It takes no place from the members of the cluster.
func apart(spec dbv1.DatabaseClusterSpec, name string) dbv1.DatabaseClusterSpec {
	spec.Pod.Labels, spec.Pod.Annotations, spec.Pod.Sidecars, spec.Service = nil, nil, nil, dbv1.ClusterService{}
	if spec.TLS != nil { // a certificate of the cluster does not have the names of the preview
		spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, Mode: spec.TLS.Mode}
	}
	if spec.NetworkPolicy.Mode == dbv1.NetworkPolicyNone { // a policy of the user may not select the preview
		own := &metav1.LabelSelector{MatchLabels: naming.Selector(name)}
		spec.NetworkPolicy = dbv1.ClusterNetworkPolicy{From: []networkingv1.NetworkPolicyPeer{{PodSelector: own}}}
	}
	scheduling := dbv1.ClusterScheduling{NodeSelector: spec.Scheduling.NodeSelector, Tolerations: spec.Scheduling.Tolerations}
	if affinity := spec.Scheduling.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		scheduling.Affinity = &corev1.Affinity{NodeAffinity: affinity.NodeAffinity}
	}
	spec.Scheduling = scheduling
	return spec
}

// report describes how far the preview is.
func report(restore *dbv1.DatabaseRestore, preview *dbv1.DatabaseCluster) RestorePlan {
	conditions := preview.Status.Conditions
	stall, ready := meta.FindStatusCondition(conditions, dbv1.ConditionStalled), meta.FindStatusCondition(conditions, dbv1.ConditionReady)
	gets := fmt.Sprintf("DatabaseCluster %s gets %s", preview.Name, data(restore, preview))
	switch {
	case stall != nil && stall.Status == metav1.ConditionTrue:
		return halted(gets, *stall)
	case ready == nil:
		return because(gets)
	case ready.Status != metav1.ConditionTrue || !meta.IsStatusConditionTrue(conditions, dbv1.ConditionAvailable):
		return because(fmt.Sprintf("%s: %s", gets, ready.Message))
	}
	p := because(fmt.Sprintf("DatabaseCluster %s has %s. Clients connect to Service %s", preview.Name, data(restore, preview),
		naming.Service(preview.Name)))
	p.Ready, p.Reason = true, dbv1.ReasonPreviewReady
	return p
}

// halted reports why the preview waits for the user.
func halted(gets string, stall metav1.Condition) RestorePlan {
	text := ": " + stall.Message
	switch stall.Reason {
	case dbv1.ReasonVolumeConflict:
		text = ", but volumes of a previous cluster of that name exist. Delete these PersistentVolumeClaims, or create a DatabaseRestore with " +
			"another name"
	case dbv1.ReasonJobBlocked, dbv1.ReasonRestoreFailed:
		text = strings.TrimSuffix(text, ".") + another
	}
	return stalled(stall.Reason, gets+text)
}

// data is what the preview was created with, for messages. Its spec may have changed since.
func data(restore *dbv1.DatabaseRestore, preview *dbv1.DatabaseCluster) string {
	from := dbv1.BackupSource{Location: restore.Spec.Source.Location, RecoveryTarget: restore.Spec.Source.RecoveryTarget}
	if first := firstBackup(restore, preview); first != nil {
		from.Name = first.Name
	}
	return describe(from)
}

// firstBackup is the backup with which the preview was first created; nil for a location.
func firstBackup(restore *dbv1.DatabaseRestore, preview *dbv1.DatabaseCluster) *dbv1.RestoreBackupRef {
	if from := state.FromBackup(preview); restore.Status.BackupRef == nil && from != nil && from.Name != "" {
		return &dbv1.RestoreBackupRef{Name: from.Name}
	}
	return restore.Status.BackupRef
}
