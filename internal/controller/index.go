/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

var indexes = append([]kit.Index{
	{Kind: &corev1.Pod{}, Name: subject.IndexCluster, Value: subject.ClusterName},
	{Kind: &corev1.Pod{}, Name: indexNode, Value: nodeOf},
	{Kind: &corev1.PersistentVolumeClaim{}, Name: subject.IndexCluster, Value: subject.ClusterName},
	{Kind: &corev1.ConfigMap{}, Name: subject.IndexCluster, Value: subject.ClusterName},
	{Kind: &batchv1.Job{}, Name: subject.IndexCluster, Value: subject.ClusterName},
	{Kind: &dbv1.DatabaseBackup{}, Name: subject.IndexCluster, Value: backedUp},
	{Kind: &dbv1.DatabaseRestore{}, Name: subject.IndexCluster, Value: restored},
	{Kind: &policyv1.PodDisruptionBudget{}, Name: subject.IndexOthers, Value: subject.OfOthers},
}, plan.Watches().Indexes...)
