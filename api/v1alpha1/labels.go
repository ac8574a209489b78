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

	// LabelBackupUID is, on the Jobs of a DatabaseBackup, its UID.
	LabelBackupUID = "database.dbcluster.io/backup-uid"
	// LabelSchedule is, on DatabaseBackups, the name of the schedule that made it: for people and selectors. What
	// the operator goes by is status.origin.
	LabelSchedule = "database.dbcluster.io/schedule"
	// LabelProtected is "true" on the claims of a cluster with spec.deletion.protection: an admission policy
	// refuses to delete them.
	LabelProtected = "database.dbcluster.io/protected"

	// LabelNameValue is the value of LabelName.
	LabelNameValue = "databasecluster"
	// LabelManagedByValue is the value of LabelManagedBy.
	LabelManagedByValue = "databasecluster-operator"

	// ComponentDatabase marks members, their volumes and what stands in front of them.
	ComponentDatabase = "database"
	// ComponentConfig marks the ConfigMaps with the files of spec.config.
	ComponentConfig = "config"
	// ComponentBackup marks DatabaseBackups that the operator made, and the Jobs of backups.
	ComponentBackup = "backup"
	// ComponentRestore marks the Jobs that restore a backup into a member's volume.
	ComponentRestore = "restore"
	// ComponentVerification marks the Jobs that restore a backup into a throw-away copy.
	ComponentVerification = "verification"
	// ComponentBackupDeletion marks the Jobs that delete a backup's data.
	ComponentBackupDeletion = "backup-deletion"
	// ComponentHook marks the Jobs of deletion hooks.
	ComponentHook = "deletion-hook"
)

// Annotations that people set on a DatabaseCluster. Each new value asks once.
const (
	// AnnotationUpdate takes what UpdateAvailable offers: the pods are made as this version of the operator
	// makes them, and the members restarted one by one.
	AnnotationUpdate = "database.dbcluster.io/update"
	// AnnotationRestart restarts the members one by one.
	AnnotationRestart = "database.dbcluster.io/restart"
	// AnnotationVerify on a DatabaseBackup restores it into a throw-away copy, which must answer.
	AnnotationVerify = "database.dbcluster.io/verify"
	// AnnotationAllowDeletion set to "true" on a CustomResourceDefinition of the operator lets it be deleted.
	AnnotationAllowDeletion = "database.dbcluster.io/allow-deletion"
	// AnnotationRefresh looks at once at the Secrets and ConfigMaps that the spec names.
	AnnotationRefresh = "database.dbcluster.io/refresh"
)

// Annotations that the operator sets.
const (
	// AnnotationRenderedFrom is on StatefulSets: a hash of what in the spec the pod template was made from.
	// While it holds, a newer operator leaves the template as it is.
	AnnotationRenderedFrom = "database.dbcluster.io/rendered-from"
	// AnnotationTemplate is on pods: a hash of the template that they were made from, but for the resources
	// of the database, which can change without a restart.
	AnnotationTemplate = "database.dbcluster.io/template"
	// AnnotationResources is on pods: the generation of the spec at which the resources of the database last
	// changed. So a template with resources that there were before is not the former one over again, whose
	// revision members bear that were given others since.
	AnnotationResources = "database.dbcluster.io/resources-generation"
	// AnnotationReferences is on pods: a hash of the Secrets and ConfigMaps that the spec named.
	AnnotationReferences = "database.dbcluster.io/references"
	// AnnotationApplied is on every object that the operator applies: a hash of what it applied.
	AnnotationApplied = "database.dbcluster.io/applied"
	// AnnotationSealed is on StatefulSets: a hash of the spec as the API server stored it after the
	// operator's last write. What is different from that, somebody else has changed.
	AnnotationSealed = "database.dbcluster.io/sealed"
	// AnnotationScripts and a name are on pods: the text of an engine's script, which they find as a file.
	AnnotationScripts = "scripts.database.dbcluster.io/"
	// AnnotationScheduled is on DatabaseBackups: the time by the schedule, in RFC 3339, for people.
	AnnotationScheduled = "database.dbcluster.io/scheduled-at"
	// AnnotationEngine is on claims: the engine that wrote the data.
	AnnotationEngine = "database.dbcluster.io/engine"
	// AnnotationRestored is on claims: the location of the backup that was restored into the volume.
	AnnotationRestored = "database.dbcluster.io/restored-from"
	// AnnotationRestoring is on claims into whose volumes a backup is being restored, and was never restored as a
	// whole: the name of the restore.
	AnnotationRestoring = "database.dbcluster.io/restoring"
	// AnnotationStopping is on the StatefulSet of a cluster whose deletion hooks are done.
	AnnotationStopping = "database.dbcluster.io/stopping"
	// AnnotationSkipDeletionHooks set to "true" on a DatabaseCluster lets its deletion go on without
	// hooks that have not succeeded.
	AnnotationSkipDeletionHooks = "database.dbcluster.io/skip-deletion-hooks"
)
