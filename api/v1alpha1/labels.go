/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Finalizer holds a DatabaseCluster until its hooks have run and its members have stopped.
const Finalizer = "database.dbcluster.io/finalizer"

// FieldOwner is the operator's name in the managed fields of what it writes.
const FieldOwner = "databasecluster-operator"

// Labels of everything that the operator makes. The first three select the pods of a cluster.
const (
	// LabelName is always LabelNameValue.
	LabelName = "app.kubernetes.io/name"
	// LabelInstance is the name of the DatabaseCluster.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelComponent tells what an object is to the cluster: one of the Component constants.
	LabelComponent = "app.kubernetes.io/component"
	// LabelManagedBy is always LabelManagedByValue; the operator's caches hold nothing without it.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelClusterUID is the UID of the DatabaseCluster: a namesake that came later has another.
	LabelClusterUID = "database.dbcluster.io/cluster-uid"

	// LabelNameValue is the value of LabelName.
	LabelNameValue = "databasecluster"
	// LabelManagedByValue is the value of LabelManagedBy.
	LabelManagedByValue = "databasecluster-operator"

	// ComponentDatabase marks members, their volumes and what stands in front of them.
	ComponentDatabase = "database"
	// ComponentHook marks the Jobs of deletion hooks.
	ComponentHook = "deletion-hook"
)

// Annotations.
const (
	// AnnotationApplied is on every object that the operator applies: a hash of what it applied.
	AnnotationApplied = "database.dbcluster.io/applied"
	// AnnotationSealed is on StatefulSets: a hash of the spec as the API server stored it after the
	// operator's last write. What is different from that, somebody else has changed.
	AnnotationSealed = "database.dbcluster.io/sealed"
	// AnnotationStopping is on the StatefulSet of a cluster whose deletion hooks are done.
	AnnotationStopping = "database.dbcluster.io/stopping"
	// AnnotationSkipDeletionHooks set to "true" on a DatabaseCluster lets its deletion go on without
	// hooks that have not succeeded.
	AnnotationSkipDeletionHooks = "database.dbcluster.io/skip-deletion-hooks"
)
