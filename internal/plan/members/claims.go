/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Containing records other contents on a claim.
func Containing(s *situation.Situation, v state.Volume, contents state.Contents) operation.Patch {
	before, after := operation.Claim(v).In(s.Cluster.Namespace), operation.Claim(v).In(s.Cluster.Namespace)
	before.SetLabels(v.Labels())
	before.SetAnnotations(v.Annotations())
	after.SetLabels(contents.Labels())
	after.SetAnnotations(contents.Annotations())
	return operation.Patch{Before: before, After: after, Text: "PersistentVolumeClaim " + v.Claim}
}

// Relabeled restores the labels of the cluster's own claims. Without them, nothing finds the claim while its member does not run.
func Relabeled(s *situation.Situation) operation.List {
	var all []operation.Patch
	for _, v := range s.Volumes {
		if s.Strayed(v) && !v.Terminating {
			before, after := operation.Claim(v).In(s.Cluster.Namespace), operation.Claim(v).In(s.Cluster.Namespace)
			after.SetLabels(naming.Labels(s.Cluster, dbv1.ComponentDatabase))
			all = append(all, operation.Patch{Before: before, After: after, Text: "PersistentVolumeClaim " + v.Claim})
		}
	}
	return operation.Changes(operation.Work{Is: operation.Properties{LiveRead: true}, Text: "restore the labels of "}, all)
}
