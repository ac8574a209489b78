/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// indexCluster is the name of the index by which the cache finds what bears a cluster's name. A list by labels
// alone looks at each object of the namespace, so that a pass would cost more with every cluster.
const indexCluster = "cluster"

// indexStarting is the name of the index of the clusters that are to start with a backup and have not yet.
const indexStarting = "starting"

// index makes the cache keep that index for what is listed.
func index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, kind := range []client.Object{&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &corev1.ConfigMap{}, &batchv1.Job{}} {
		if err := indexer.IndexField(ctx, kind, indexCluster, clusterName); err != nil {
			return fmt.Errorf("index %T: %w", kind, err)
		}
	}
	if err := indexer.IndexField(ctx, &dbv1.DatabaseBackup{}, indexCluster, backedUp); err != nil {
		return fmt.Errorf("index the backups: %w", err)
	}
	if err := indexer.IndexField(ctx, &dbv1.DatabaseCluster{}, indexStarting, starting); err != nil {
		return fmt.Errorf("index the clusters: %w", err)
	}
	return nil
}

func clusterName(object client.Object) []string {
	return []string{object.GetLabels()[dbv1.LabelInstance]}
}
