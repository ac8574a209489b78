/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Backup says where backups go, when they are made, how long they are kept, and how they are proved.
type Backup struct {
	// destination is where backups go.
	// +required
	Destination BackupDestination `json:"destination"`

	// schedules make backups by the clock.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Schedules []BackupSchedule `json:"schedules,omitempty"`

	// maxAge is how old the newest complete backup may be before the condition BackupHealthy turns False, for
	// example 26h. A backup with a destination of its own does not count. Default: BackupHealthy tells only whether the last backup succeeded.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('1m')",message="spec.backup.maxAge must be a duration of at least a minute in hours, minutes and seconds, for example 26h"
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// deadlineSeconds is how long each member's backup may take, retries included, in seconds, 1 to 604800.
	// Default: 43200, half a day.
	// +optional
	// +kubebuilder:default=43200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int64 `json:"deadlineSeconds,omitempty"`

	// resources are the CPU and memory of the pods that make, restore and verify backups. What they leave out has a
	// default: 100m CPU and 256Mi of memory are requested, 2 CPUs and 1Gi are the limits. An action that has a member's
	// volume has at least the resources of the member, and no limit where the member has none.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// verify proves the newest backup by restoring it into a throw-away copy. Default: nothing is proved.
	// +optional
	Verify *BackupVerify `json:"verify,omitempty"`
}

// BackupDestination is a place for backups: a bucket of an S3 service, or a directory of a volume.
//
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('file://') == has(self.claimName)",message="destination: url file:///… needs claimName, the PersistentVolumeClaim that holds the directory; url s3://… must not have it"
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('s3://') || !has(self.endpoint) && !has(self.region) && !has(self.credentialsSecretName)",message="destination: endpoint, region and credentialsSecretName go with url s3://… only"
// +kubebuilder:validation:XValidation:rule="!self.url.startsWith('s3://') || has(self.credentialsSecretName) != has(self.credentials)",message="destination: url s3://… needs either credentialsSecretName or credentials: WorkloadIdentity"
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('s3://') || !has(self.credentials) && !has(self.serverSideEncryption)",message="destination: credentials and serverSideEncryption go with url s3://… only"
type BackupDestination struct {
	// url is s3://bucket/prefix, or file:///directory for a directory of the volume claimName.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(s3://[a-z0-9][-a-z0-9.]{1,61}[a-z0-9](/[-A-Za-z0-9_.=]+)*/?|file:///([-A-Za-z0-9_.=]+/?)*)$') && !self.matches('/[.][.]?(/|$)')",message="url must be s3://bucket, s3://bucket/prefix or file:///directory, with letters, digits, '-', '_', '.' and '=' between the slashes, and no '.' or '..' alone; a bucket has 3 to 63 lower case letters, digits, '-' and '.'"
	URL string `json:"url"`

	// endpoint is the URL of an S3 service, for example https://s3.example.org. Default: that of Amazon for
	// the region.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[]A-Za-z0-9._:[-]+/?$')",message="endpoint must be the http:// or https:// URL of an S3 service, without a path"
	Endpoint string `json:"endpoint,omitempty"`

	// region is where the bucket is. Default: us-east-1.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-a-z0-9]+$`
	Region string `json:"region,omitempty"`

	// credentialsSecretName is the Secret of this namespace with the keys AWS_ACCESS_KEY_ID and
	// AWS_SECRET_ACCESS_KEY, perhaps AWS_SESSION_TOKEN, and perhaps ca.crt: authorities that the endpoint's
	// certificate may be signed by. A bucket needs either this or credentials.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Credentials Secret",xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// credentials is WorkloadIdentity where the pods of Jobs reach the bucket by the identity that the platform gives
	// their ServiceAccount, instead of a Secret: web identity or container credentials, never the identity of the
	// node. They run as the ServiceAccount "default" of the namespace.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Credentials CredentialSource `json:"credentials,omitempty"`

	// serverSideEncryption is how the S3 service encrypts what it stores. Default: as the bucket says.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ServerSideEncryption *ServerSideEncryption `json:"serverSideEncryption,omitempty"`

	// encryptionSecretName is the Secret of this namespace with the key identity: a secret key of age
	// (AGE-SECRET-KEY-1…). Backups are encrypted for it before they leave the pod, and nobody can restore or verify
	// them without it. Further lines are former keys, which only decrypt. Default: backups are not encrypted by
	// the operator.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Encryption Secret",xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	EncryptionSecretName string `json:"encryptionSecretName,omitempty"`

	// claimName is the PersistentVolumeClaim of this namespace that holds the directory of url file:///….
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ClaimName string `json:"claimName,omitempty"`
}

// CredentialSource is where the credentials of a bucket come from that no Secret holds.
// +kubebuilder:validation:Enum=WorkloadIdentity
type CredentialSource string

// CredentialsWorkloadIdentity is the identity that the platform gives a pod's ServiceAccount.
const CredentialsWorkloadIdentity CredentialSource = "WorkloadIdentity"

// ServerSideEncryption is what an S3 service is asked to encrypt with.
//
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || self.type == 'aws:kms'",message="serverSideEncryption: kmsKeyID goes with type aws:kms only"
type ServerSideEncryption struct {
	// type is AES256 for keys of the service, or aws:kms for keys of its key management.
	// +required
	// +kubebuilder:validation:Enum=AES256;"aws:kms"
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Type string `json:"type"`

	// kmsKeyID is the key of the key management, an ID, an ARN or an alias. Default: the service's default key.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9:/_.+=@]+$`
	KMSKeyID string `json:"kmsKeyID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID
}

// BackupSchedule makes backups by the clock. A time that passed while nothing could be made, as when the
// operator was down, is made up for once; while a backup of the cluster is unfinished no other is made.
type BackupSchedule struct {
	// name is the schedule's own, unique in the cluster, at most 11 characters. It becomes part of the backups' names.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.backup.schedules[].name must be a DNS label: lower case letters, digits and '-'"
	Name string `json:"name"`

	// cron is when: minute, hour, day, month, weekday, for example "30 3 * * *"; or
	// @hourly, @daily, @weekly, @monthly.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[^\\\\s=@]+( +[^\\\\s=@]+){4})$')",message="spec.backup.schedules[].cron must have five fields: minute, hour, day, month, weekday, for example \"30 3 * * *\"; the time zone goes into timeZone"
	Cron string `json:"cron"`

	// timeZone is the name of a time zone, for example Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][-A-Za-z0-9_+/]*$`
	TimeZone string `json:"timeZone,omitempty"`

	// suspend keeps the schedule from making backups, and from deleting those that it made. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// retention says how long this schedule's backups are kept. Default: for ever.
	// +optional
	Retention *BackupRetention `json:"retention,omitempty"`
}

// BackupRetention says how long backups are kept. One that is not wanted by either is deleted with its data;
// the newest complete one never is.
//
// +kubebuilder:validation:XValidation:rule="has(self.count) || has(self.maxAge)",message="spec.backup.schedules[].retention must have count, maxAge or both"
type BackupRetention struct {
	// count is how many complete backups are kept, 1 to 1000. With maxAge, too, a backup stays while either
	// wants it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Count *int32 `json:"count,omitempty"`

	// maxAge is how long a complete backup is kept, for example 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('1m')",message="spec.backup.schedules[].retention.maxAge must be a duration of at least a minute in hours, minutes and seconds, for example 720h"
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
}

// BackupVerify proves the newest complete backup: it is restored into a throw-away copy, the database is
// started there, and must answer the engine's probe.
type BackupVerify struct {
	// cron is when, as in schedules.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[^\\\\s=@]+( +[^\\\\s=@]+){4})$')",message="spec.backup.verify.cron must have five fields: minute, hour, day, month, weekday, for example \"0 5 * * 0\"; the time zone goes into timeZone"
	Cron string `json:"cron"`

	// timeZone is the name of a time zone, for example Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][-A-Za-z0-9_+/]*$`
	TimeZone string `json:"timeZone,omitempty"`

	// command is run in place of the engine's probe, against the database in DBC_MEMBER=localhost; it is tried
	// again until it exits with 0 or the deadline passes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// deadlineSeconds is how long the restore and the answer of each member may take, in seconds, 1 to 604800.
	// Default: 43200, half a day.
	// +optional
	// +kubebuilder:default=43200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int64 `json:"deadlineSeconds,omitempty"`
}

// Bootstrap says what a new cluster starts with. It is read until the members are made for the first time.
type Bootstrap struct {
	// fromBackup restores a backup into the members' empty volumes before they start. Default: they start
	// with empty volumes, or with those that an earlier cluster of the same name left.
	// +optional
	FromBackup *BackupSource `json:"fromBackup,omitempty"`
}

// BackupSource names a backup to restore.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.location)",message="spec.bootstrap.fromBackup must have either name, of a DatabaseBackup, or location"
type BackupSource struct {
	// name is the DatabaseBackup, in the same namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// location is the backup itself, for when its DatabaseBackup is gone: url is what its status.location was.
	// +optional
	Location *BackupDestination `json:"location,omitempty"`
}
