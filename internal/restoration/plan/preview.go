/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Preview is a DatabaseCluster with the data of a source. Kubernetes deletes it with the restore, and the operator its volumes with it.
func Preview(restore *dbv1.DatabaseRestore, cluster *dbv1.DatabaseCluster, source dbv1.BackupSource, members int32) objects.Child {
	preview := &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: restore.Namespace, Name: naming.Preview(restore.Name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(restore, dbv1.GroupVersion.WithKind("DatabaseRestore"))},
		},
		Spec: specOf(cluster, source, members),
	}
	object := &unstructured.Unstructured{Object: objects.Fields(preview)}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	unstructured.RemoveNestedField(object.Object, "status")
	return objects.Child{Object: object}
}

// specOf has what the database needs to run, as the cluster runs it. It writes no backup and no archive. Clients of the cluster must not
// find it: it has neither the labels of the pods nor the load balancer, and its sidecars do not report for the cluster.
func specOf(cluster *dbv1.DatabaseCluster, source dbv1.BackupSource, members int32) dbv1.DatabaseClusterSpec {
	spec := *cluster.Spec.DeepCopy()
	spec.Replicas, spec.Paused, spec.Hibernated, spec.Backup = members, false, false, nil
	spec.Pod.Labels, spec.Pod.Annotations, spec.Pod.Sidecars = nil, nil, nil
	spec.Service, spec.UpdateStrategy, spec.Credentials.Rotation = dbv1.ClusterService{}, dbv1.ClusterUpdateStrategy{}, dbv1.ClusterCredentialsRotation{}
	spec.Deletion = dbv1.ClusterDeletion{Volumes: dbv1.VolumesDelete}
	if spec.TLS != nil { // a certificate of the cluster has not the names of the preview
		spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, Mode: spec.TLS.Mode}
	}
	if spec.Bootstrap == nil {
		spec.Bootstrap = &dbv1.ClusterBootstrap{}
	}
	spec.Bootstrap.FromBackup = &source
	return spec
}

// report describes how far the preview is.
func report(restore *dbv1.DatabaseRestore, preview *dbv1.DatabaseCluster) RestorePlan {
	stall := meta.FindStatusCondition(preview.Status.Conditions, dbv1.ConditionStalled)
	ready := meta.FindStatusCondition(preview.Status.Conditions, dbv1.ConditionReady)
	gets := fmt.Sprintf("DatabaseCluster %s gets %s", preview.Name, data(preview))
	switch {
	case stall != nil && stall.Status == metav1.ConditionTrue:
		return stalled(stall.Reason, fmt.Sprintf("%s: %s", gets, stall.Message))
	case ready == nil:
		return because(gets)
	case ready.Status != metav1.ConditionTrue:
		return because(fmt.Sprintf("%s: %s", gets, ready.Message))
	}
	p := because(fmt.Sprintf("DatabaseCluster %s has %s. Clients connect to Service %s. It does not change DatabaseCluster %s",
		preview.Name, data(preview), naming.Service(preview.Name), restore.Spec.ClusterRef.Name))
	p.Ready = true
	return p
}

// data is what a preview starts with, for messages.
func data(preview *dbv1.DatabaseCluster) string {
	source := state.FromBackup(preview)
	if source == nil { // another client has removed it
		return "other data"
	}
	return describe(*source)
}
