/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseUser is a user of the database of a DatabaseCluster. The operator creates the Secret METADATA.NAME-user in the form of the
// connection Secret, with which applications connect. The engine must have the action objects.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database User",order=6,resources={{DatabaseCluster,v1alpha1,""},{Secret,v1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbu,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Name-In-Database",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.status.binding.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 58",message="metadata.name must have at most 58 characters, because the Secret of the user has the suffix -user"
type DatabaseUser struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 58 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the user that the database should have.
	// +required
	Spec DatabaseUserSpec `json:"spec"`

	// status is the observed state.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseUserStatus `json:"status,omitzero"`
}

// DatabaseUserList is a list of DatabaseUsers.
//
// +kubebuilder:object:root=true
type DatabaseUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseUser `json:"items"`
}

// DatabaseUserSpec is the desired state of a DatabaseUser.
//
// +kubebuilder:validation:XValidation:rule="self.clusterRef == oldSelf.clusterRef",message="spec.clusterRef cannot be changed: create another DatabaseUser"
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="spec.name cannot be changed: create another DatabaseUser"
type DatabaseUserSpec struct {
	// clusterRef names the DatabaseCluster, in the same namespace.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ClusterRef DatabaseObjectClusterRef `json:"clusterRef"`

	// name is the name of the user in the database. The engine may restrict it.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="spec.name must not have control characters"
	Name string `json:"name"`

	// databases are the databases that the user can use, with its privileges. The first one is in the Secret of the user. In an engine
	// without databases, a name is a part of the data: a pattern of keys in Redis, a prefix of keys in etcd. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Databases []DatabaseUserGrant `json:"databases,omitempty"`

	// attributes are settings that the engine knows, for example connectionLimit of PostgreSQL. docs/databases-and-users.md has those of
	// the built-in engines. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^[a-zA-Z][a-zA-Z0-9_-]{0,62}$'))",message="spec.attributes: a key must begin with a letter and have at most 63 letters, digits, '-' and '_'"
	Attributes map[string]DatabaseObjectAttribute `json:"attributes,omitempty"`

	// secretName is the name of a Secret whose key password has the password. Default: the operator generates the password.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="spec.secretName must be the name of a Secret: lowercase letters, digits, '-' and '.'"
	SecretName string `json:"secretName,omitempty"`

	// authentication is how the user logs in over the network. Password: with the password in its Secret. Certificate: only with the
	// certificate in its Secret, in tls.crt and tls.key, which the operator issues and renews. The password is refused then. It needs
	// spec.tls.clientCertificates Accept of the cluster. Default: Password.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=Password;Certificate
	Authentication UserAuthentication `json:"authentication,omitempty"`

	DatabaseObjectPolicy `json:",inline"`
}

// UserAuthentication is how a user logs in.
type UserAuthentication string

// How a user logs in.
const (
	// AuthenticatePassword means with the password in its Secret.
	AuthenticatePassword UserAuthentication = "Password"
	// AuthenticateCertificate means only with the certificate in its Secret.
	AuthenticateCertificate UserAuthentication = "Certificate"
)

// DatabaseUserGrant are the privileges of a user in a database.
type DatabaseUserGrant struct {
	// name is the name of the database: the spec.name of a Database, or another one in the engine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="spec.databases[].name must not have control characters"
	Name string `json:"name"`

	// privileges are those that the engine knows. Every engine has readOnly, readWrite and owner.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-zA-Z][a-zA-Z0-9_-]*$`
	Privileges []string `json:"privileges"`
}

// DatabaseUserStatus is the observed state of a DatabaseUser.
type DatabaseUserStatus struct {
	DatabaseObjectStatus `json:",inline"`

	// binding names the Secret with which applications connect.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Binding *ClusterBinding `json:"binding,omitempty"`

	// passwordVersion is the resourceVersion of that Secret. The cluster puts its password in force.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	PasswordVersion string `json:"passwordVersion,omitempty"`

	// certificate is the certificate in that Secret. It is empty with spec.authentication Password, and until the database has the user.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Certificate *UserCertificateStatus `json:"certificate,omitempty"`
}

// UserCertificateStatus is the certificate of a user.
type UserCertificateStatus struct {
	// notAfter is the time at which the certificate expires. The operator renews it after two thirds of its life.
	// +required
	NotAfter metav1.Time `json:"notAfter"`
}
