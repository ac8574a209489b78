/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// BackupDestination is where backups are stored: a bucket of an S3 service, or a directory of a volume.
//
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('file://') == has(self.claimName)",message="destination: url file:///… needs claimName, the PersistentVolumeClaim with the directory; url s3://… must not have claimName"
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('s3://') || !has(self.endpoint) && !has(self.region) && !has(self.credentialsSecretName)",message="destination: endpoint, region and credentialsSecretName are only for url s3://…"
// +kubebuilder:validation:XValidation:rule="!self.url.startsWith('s3://') || has(self.credentialsSecretName) != has(self.credentialSource)",message="destination: url s3://… needs either credentialsSecretName or credentialSource: WorkloadIdentity"
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('s3://') || !has(self.credentialSource) && !has(self.serverSideEncryption)",message="destination: credentialSource and serverSideEncryption are only for url s3://…"
type BackupDestination struct {
	// url is s3://bucket/prefix, or file:///directory for a directory of the volume claimName.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(s3://[a-z0-9][-a-z0-9.]{1,61}[a-z0-9](/[-A-Za-z0-9_.=]+)*/?|file:///([-A-Za-z0-9_.=]+/?)*)$') && !self.matches('/[.][.]?(/|$)')",message="url must be s3://bucket, s3://bucket/prefix or file:///directory. A segment has letters, digits, '-', '_', '.' and '=', but is not '.' or '..'. A bucket has 3 to 63 lowercase letters, digits, '-' and '.'"
	URL string `json:"url"`

	// endpoint is the URL of an S3 service, for example https://s3.example.org. Default: the endpoint of Amazon S3
	// in the region.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[]A-Za-z0-9._:[-]+/?$')",message="endpoint must be the http:// or https:// URL of an S3 service, without a path"
	Endpoint string `json:"endpoint,omitempty"`

	// region is the region of the bucket. Default: us-east-1.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-a-z0-9]+$')",message="region must have lowercase letters, digits and '-' only, for example eu-central-1"
	Region string `json:"region,omitempty"`

	// credentialsSecretName is the name of a Secret in this namespace with the keys AWS_ACCESS_KEY_ID and
	// AWS_SECRET_ACCESS_KEY. Optional keys are AWS_SESSION_TOKEN and ca.crt, the certificate authorities of the
	// endpoint. A bucket needs either this field or credentialSource. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Credentials Secret",xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="credentialsSecretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// credentialSource is WorkloadIdentity if the pods of Jobs access the bucket with the identity that the platform
	// gives their ServiceAccount, instead of a Secret. This is a web identity or container credentials, never the
	// identity of the node. The pods run as the ServiceAccount of spec.serviceAccount of the DatabaseCluster.
	// Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	CredentialSource BackupCredentialSource `json:"credentialSource,omitempty"`

	// serverSideEncryption is the encryption that the S3 service applies to stored objects. Default: the setting of
	// the bucket.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ServerSideEncryption *BackupServerSideEncryption `json:"serverSideEncryption,omitempty"`

	// encryptionSecretName is the name of a Secret in this namespace with the key identity: an age secret key
	// (AGE-SECRET-KEY-1…). The operator encrypts backups with it before they leave the pod. Without it, restores and
	// verifications are impossible. Further lines are previous keys, which only decrypt. Default: the operator does not
	// encrypt backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Encryption Secret",xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="encryptionSecretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"
	EncryptionSecretName string `json:"encryptionSecretName,omitempty"`

	// claimName is the name of the PersistentVolumeClaim in this namespace with the directory of url file:///….
	// Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="claimName must be the name of a PersistentVolumeClaim of this namespace: lowercase letters, digits, '-' and '.'"
	ClaimName string `json:"claimName,omitempty"`
}

// BackupCredentialSource is the source of credentials for a bucket other than a Secret.
// +kubebuilder:validation:Enum=WorkloadIdentity
type BackupCredentialSource string

// CredentialsWorkloadIdentity is the identity that the platform gives the ServiceAccount of a pod.
const CredentialsWorkloadIdentity BackupCredentialSource = "WorkloadIdentity"

// BackupServerSideEncryption is the encryption that an S3 service applies to stored objects.
//
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || self.type == 'aws:kms'",message="serverSideEncryption: kmsKeyID is only for type aws:kms"
type BackupServerSideEncryption struct {
	// type is AES256 for keys of the S3 service, or aws:kms for keys of its key management service.
	// +required
	// +kubebuilder:validation:Enum=AES256;"aws:kms"
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Type string `json:"type"`

	// kmsKeyID is the key in the key management service: an ID, an ARN or an alias. Default: the default key of the
	// service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="KMS Key ID"
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-A-Za-z0-9:/_.+=@]+$')",message="kmsKeyID must be an ID, an ARN or an alias of a key, without spaces"
	KMSKeyID string `json:"kmsKeyID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID
}
