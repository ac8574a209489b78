/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Finalizer keeps a DatabaseCluster from being deleted until its hooks have run and its members have stopped.
const Finalizer = "database.dbcluster.io/finalizer"

// FieldOwner is the name of the operator in the managed fields of objects.
const FieldOwner = "databasecluster-operator"

// FieldCreator is the name of the operator in the managed fields of objects that it has created and not updated yet.
const FieldCreator = "databasecluster-operator-create"

// Labels of the objects that the operator creates. The first three select the pods of a cluster.
const (
	// LabelName is always LabelNameValue.
	LabelName = "app.kubernetes.io/name"
	// LabelInstance is the name of the DatabaseCluster.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelComponent is the role of an object in the cluster: one of the Component constants.
	LabelComponent = "app.kubernetes.io/component"
	// LabelManagedBy is always LabelManagedByValue; the operator's caches contain only objects with it.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelClusterUID is the UID of the DatabaseCluster. A later cluster of the same name has another UID.
	LabelClusterUID = "database.dbcluster.io/cluster-uid"

	// LabelBackupUID is, on the Jobs of a DatabaseBackup, its UID.
	LabelBackupUID = "database.dbcluster.io/backup-uid"
	// LabelCompanionUID is, on the pods of a DatabaseCompanion, its UID.
	LabelCompanionUID = "database.dbcluster.io/companion-uid"
	// LabelCompanion is, on the objects of a DatabaseCompanion, its name.
	LabelCompanion = "database.dbcluster.io/companion"
	// LabelPauses is "true" on the pods of companions whose clients actions of the engine can pause.
	LabelPauses = "database.dbcluster.io/pauses"
	// LabelConnects is "true" on the pods of Jobs that may connect to every port of the members: the NetworkPolicy of the cluster
	// selects them.
	LabelConnects = "database.dbcluster.io/connects"
	// LabelSchedule is, on DatabaseBackups, the name of the schedule that created it, for people and selectors. The
	// operator reads status.origin instead.
	LabelSchedule = "database.dbcluster.io/schedule"
	// LabelProtected is "true" on the claims of a cluster with spec.deletion.protection. An admission policy refuses
	// to delete them.
	LabelProtected = "database.dbcluster.io/protected"

	// LabelNameValue is the value of LabelName.
	LabelNameValue = "databasecluster"
	// LabelManagedByValue is the value of LabelManagedBy.
	LabelManagedByValue = "databasecluster-operator"

	// ComponentDatabase marks members, their volumes and their Services.
	ComponentDatabase = "database"
	// ComponentConfig marks the ConfigMaps with the files of spec.config.
	ComponentConfig = "config"
	// ComponentCredentials marks Secrets with generated credentials.
	ComponentCredentials = "credentials"
	// ComponentRotation marks the Jobs that put rotated credentials in force.
	ComponentRotation = "credentials-rotation"
	// ComponentConnection marks connection Secrets.
	ComponentConnection = "connection"
	// ComponentBackup marks DatabaseBackups that the operator created, and the Jobs of backups.
	ComponentBackup = "backup"
	// ComponentRestore marks the Jobs that restore a backup into a member's volume.
	ComponentRestore = "restore"
	// ComponentSearch marks the Jobs that look for the newest backup of a cluster.
	ComponentSearch = "search"
	// ComponentArchive marks the Deployment of the archive and its pods.
	ComponentArchive = "archive"
	// ComponentRecovery marks the Jobs that read what can be recovered from the archive and the backups.
	ComponentRecovery = "recovery"
	// ComponentObjects is of the Job that makes databases and users, and of their Secrets.
	ComponentObjects = "objects"
	// ComponentVerification marks the Jobs that restore a backup into a temporary copy.
	ComponentVerification = "verification"
	// ComponentBackupDeletion marks the Jobs that delete a backup's data.
	ComponentBackupDeletion = "backup-deletion"
	// ComponentTLS marks the Secrets with the certificate and the CA of a cluster, and the Certificate of cert-manager.
	ComponentTLS = "tls"
	// ComponentMonitoring marks the PodMonitor and the PrometheusRule of a cluster.
	ComponentMonitoring = "monitoring"
	// ComponentReload marks the Jobs by which members load a renewed certificate.
	ComponentReload = "reload"
	// ComponentHandOver marks the Jobs that hand the role of the primary over to another member.
	ComponentHandOver = "hand-over"
	// ComponentMemberRemove marks the Jobs that remove a member from the membership.
	ComponentMemberRemove = "member-remove"
	// ComponentConfigure marks the Jobs that put parameters and passwords in force.
	ComponentConfigure = "configure"
	// ComponentCompanion marks the objects and the pods of DatabaseCompanions, and the Service with the addresses of those that can pause.
	ComponentCompanion = "companion"
	// ComponentProtect marks the Jobs that make a database with a nearly full volume read-only, and undo that.
	ComponentProtect = "protect"
	// ComponentMeasure marks the Job that measures what fills a volume.
	ComponentMeasure = "measure"
	// ComponentHook marks the Jobs of deletion hooks.
	ComponentHook = "deletion-hook"
)

// Annotations that users set. Each new value requests the action once. An annotation with the value "true" is a setting.
const (
	// AnnotationUpdate rolls out the pod template of this version of the operator, which UpdateAvailable announces.
	// The members restart one by one.
	AnnotationUpdate = "database.dbcluster.io/update"
	// AnnotationRestart restarts the members one by one.
	AnnotationRestart = "database.dbcluster.io/restart"
	// AnnotationVerify on a DatabaseBackup requests its verification.
	AnnotationVerify = "database.dbcluster.io/verify"
	// AnnotationAllowDeletion set to "true" on a CustomResourceDefinition of the operator allows its deletion.
	AnnotationAllowDeletion = "database.dbcluster.io/allow-deletion"
	// AnnotationSkipDeletionHooks set to "true" on a DatabaseCluster skips the deletion hooks that have not succeeded.
	AnnotationSkipDeletionHooks = "database.dbcluster.io/skip-deletion-hooks"
	// AnnotationRotateCredentials replaces the generated passwords.
	AnnotationRotateCredentials = "database.dbcluster.io/rotate-credentials"
	// AnnotationRenewCertificate on a DatabaseCluster with spec.tls.selfSigned renews the certificate now.
	AnnotationRenewCertificate = "database.dbcluster.io/renew-certificate"
	// AnnotationHandOver on a DatabaseCluster names the pod that should become the primary. Text after a slash makes it a new
	// request.
	AnnotationHandOver = "database.dbcluster.io/hand-over"
	// AnnotationRebuild on a DatabaseCluster names a pod whose volume is deleted, so that the member copies the data of
	// the others again. A member with data of its own whose volume was lost starts with the volume that it has now. Text
	// after a slash makes it a new request.
	AnnotationRebuild = "database.dbcluster.io/rebuild"
	// AnnotationRefresh reads the Secrets and ConfigMaps of the spec again without delay.
	AnnotationRefresh = "database.dbcluster.io/refresh"
)

// Annotations that the operator sets.
const (
	// AnnotationRenderedFrom is on StatefulSets, and on the Deployments of companions: a hash of the fields of the spec from which the
	// operator rendered the pod template. While the hash is the same, a newer operator keeps the template.
	AnnotationRenderedFrom = "database.dbcluster.io/rendered-from"
	// AnnotationServiceAccount is on StatefulSets and Jobs: the ServiceAccount that the operator created for the cluster.
	AnnotationServiceAccount = "database.dbcluster.io/service-account"
	// AnnotationTemplate is on pods: a hash of their pod template without the resources of the database, which can
	// change without a restart.
	AnnotationTemplate = "database.dbcluster.io/template"
	// AnnotationResources is on pods: the generation of the spec at which the resources of the database last changed, and the time of
	// the decision about them, if there was one.
	// It gives a template with previous resources a revision of its own. Otherwise its revision would be that of
	// pods whose resources were changed since.
	AnnotationResources = "database.dbcluster.io/resources-generation"
	// AnnotationResizeRefused is on pods: the revision of the StatefulSet whose resources the API server refused for the
	// running pod. The pod has to restart to get them.
	AnnotationResizeRefused = "database.dbcluster.io/resize-refused"
	// AnnotationReferences is on pods: a hash of the Secrets and ConfigMaps of the spec.
	AnnotationReferences = "database.dbcluster.io/references"
	// AnnotationApplied is on every object that the operator applies: a hash of what it applied.
	AnnotationApplied = "database.dbcluster.io/applied"
	// AnnotationStoredSpec is on StatefulSets and on the Deployments of companions: the UID and the generation of the operator's last write,
	// or a hash of the spec after it. If both differ, another client changed the spec. An object that was never changed has none.
	AnnotationStoredSpec = "database.dbcluster.io/stored-spec"
	// AnnotationCertificate is on the Jobs of reloads: the certificate that members load, as in status.tls.served.
	AnnotationCertificate = "database.dbcluster.io/certificate"
	// AnnotationOccasion is on the Job that reads what can be recovered, and on the one that measures a volume: why it runs. For another
	// occasion, it runs again.
	AnnotationOccasion = "database.dbcluster.io/occasion"
	// AnnotationObjects is on the Job that makes databases and users: for each of them its identifier, and the version that the Job knows.
	AnnotationObjects = "database.dbcluster.io/objects"
	// AnnotationMembers is on the Jobs of rotations: the members that were ready when the Job was created, and since when. The Job counts
	// only for these.
	AnnotationMembers = "database.dbcluster.io/members"
	// AnnotationRights is on ServiceAccounts of members: the Role by which they report who is the primary.
	AnnotationRights = "database.dbcluster.io/rights"
	// AnnotationRoleLabel is on pods of engines with roles: the label that members may change. An admission policy reads
	// it.
	AnnotationRoleLabel = "database.dbcluster.io/role-label"
	// AnnotationStatus is on pods of engines with roles: the JSON object in which a member reports its state. Members may
	// change it, and a change starts no pass.
	AnnotationStatus = "status"
	// AnnotationCreated is on the Jobs of hand-overs, removals of members and configurations: when the operator created the Job, by its
	// own clock.
	AnnotationCreated = "database.dbcluster.io/created-at"
	// AnnotationConfigured is on StatefulSets of a previous version of the operator, which recorded there what status.configuration has
	// now.
	AnnotationConfigured = "database.dbcluster.io/configured"
	// AnnotationHandedOver is on StatefulSets of a previous version of the operator: the last request of AnnotationHandOver that has
	// ended. It is in status.requests now.
	AnnotationHandedOver = "database.dbcluster.io/handed-over"
	// AnnotationRebuilt is on StatefulSets of a previous version of the operator: the last request of AnnotationRebuild, and the UID of
	// the claim that it deletes. It is in status.requests now.
	AnnotationRebuilt = "database.dbcluster.io/rebuilt"
	// AnnotationScripts and a name are on pods: the text of an engine's script, which is mounted as a file.
	AnnotationScripts = "scripts.database.dbcluster.io/"
	// AnnotationScheduled is on DatabaseBackups: the time of the schedule in RFC 3339, for people.
	AnnotationScheduled = "database.dbcluster.io/scheduled-at"
	// AnnotationEngine is on claims: the engine that wrote the data.
	AnnotationEngine = "database.dbcluster.io/engine"
	// AnnotationPrimary is on claim 0 of an engine with roles: the pod that was the last known primary. It has the latest
	// data, also after all members have stopped.
	AnnotationPrimary = "database.dbcluster.io/primary"
	// AnnotationPrimaryTerm is on claim 0: the term of the lock with which that pod was the primary. Of an engine without spec.state.lock, it
	// is the UID and the generation of the StatefulSet until which no other member can have accepted a write. A term without
	// AnnotationPrimary means that no member is known to have every acknowledged write. If the agreement of the members has another term, the
	// record does not count.
	AnnotationPrimaryTerm = "database.dbcluster.io/primary-term"
	// AnnotationNeededSince is on claim 0 of an engine of topology Consensus, while its members stop: since when each write needs all that
	// are left, as the name of a process of the operator and how long it had run. It counts only for that process, and for the generation in
	// AnnotationPrimaryTerm.
	AnnotationNeededSince = "database.dbcluster.io/needed-since"
	// AnnotationVoters is on the claims of an engine of topology Consensus: how many members the membership may have, also after
	// all of them have stopped. They are the members with lower ordinals. The highest number on a claim counts. It is raised before a member
	// joins, and lowered after one has left and its pod no longer exists.
	AnnotationVoters = "database.dbcluster.io/voters"
	// AnnotationRestored is on claims: the location of the backup in the volume.
	AnnotationRestored = "database.dbcluster.io/restored-from"
	// AnnotationRestoring is on claims whose restore has started and has not completed in every volume: the name of the restore.
	AnnotationRestoring = "database.dbcluster.io/restoring"
	// AnnotationRotation is on Secrets with generated credentials: the rotation in progress. The keys of its passwords end
	// with it.
	AnnotationRotation = "database.dbcluster.io/rotation"
	// AnnotationRotationRequest is on Secrets with generated credentials: the request of the last rotation.
	AnnotationRotationRequest = "database.dbcluster.io/rotation-request"
	// AnnotationRotated is on Secrets with generated credentials: the time of the last rotation.
	AnnotationRotated = "database.dbcluster.io/rotated-at"
	// AnnotationContent is on Secrets with generated credentials: a hash of the passwords that the last rotation put in
	// force.
	AnnotationContent = "database.dbcluster.io/content"
	// AnnotationContentOfPods is on Secrets with generated credentials: the hash with which pods count as current, as long
	// as only the operator changes the passwords.
	AnnotationContentOfPods = "database.dbcluster.io/content-of-pods"
	// AnnotationTerminating is on the StatefulSet of a cluster whose deletion hooks have finished. They never run again.
	AnnotationTerminating = "database.dbcluster.io/terminating"
)
