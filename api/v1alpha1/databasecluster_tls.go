/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TLSMode selects the connections that the database accepts.
type TLSMode string

// Values of spec.tls.mode.
const (
	// TLSAllow accepts connections with and without TLS.
	TLSAllow TLSMode = "Allow"
	// TLSRequire accepts only connections with TLS.
	TLSRequire TLSMode = "Require"
)

// TLSClientCertificates is whether the database lets clients authenticate by a certificate.
type TLSClientCertificates string

// Values of spec.tls.clientCertificates.
const (
	// ClientCertificatesIgnore accepts only passwords.
	ClientCertificatesIgnore TLSClientCertificates = "Ignore"
	// ClientCertificatesAccept also accepts the certificates that the operator issues for DatabaseUsers.
	ClientCertificatesAccept TLSClientCertificates = "Accept"
)

// ClusterTLS encrypts the connections to the members. The certificate comes from one of secretName, issuerRef and selfSigned.
//
// +kubebuilder:validation:XValidation:rule="[has(self.secretName), has(self.issuerRef), has(self.selfSigned)].filter(source, source).size() == 1",message="spec.tls: set exactly one of secretName, issuerRef and selfSigned"
// +kubebuilder:validation:XValidation:rule="!has(self.dnsNames) || !has(self.secretName)",message="spec.tls.dnsNames is only for issuerRef and selfSigned: issue the certificate in spec.tls.secretName with these names, or remove them"
// +kubebuilder:validation:XValidation:rule="!has(self.clientCertificates) || self.clientCertificates != 'Accept' || has(self.selfSigned) && (!has(self.mode) || self.mode == 'Require')",message="spec.tls.clientCertificates Accept needs selfSigned and the mode Require: another CA could issue certificates that log in as any user"
type ClusterTLS struct {
	// secretName is the name of a Secret of type kubernetes.io/tls in this namespace, with the keys tls.crt, tls.key
	// and ca.crt. You renew the certificate. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.tls.secretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"
	SecretName string `json:"secretName,omitempty"`

	// issuerRef names the issuer of cert-manager that issues and renews the certificate. The operator creates a
	// Certificate with the name of the cluster and "-tls". Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	IssuerRef *TLSIssuerRef `json:"issuerRef,omitempty"`

	// selfSigned lets the operator create a CA for this cluster, and a certificate, which it renews. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	SelfSigned *TLSSelfSigned `json:"selfSigned,omitempty"`

	// dnsNames are additional DNS names of the certificate, such as the name of a load balancer. A name may start with
	// "*.". Names of Services are not allowed: the certificate has those of the cluster. A change issues a new
	// certificate. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^([*][.])?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.])+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$') && !name.matches('[.]svc([.]|$)'))",message="spec.tls.dnsNames must be lowercase DNS names with a dot, for example orders.example.com, and not names of Services with .svc"
	DNSNames []string `json:"dnsNames,omitempty"`

	// mode selects the connections that the database accepts. Require refuses connections without TLS. Allow accepts
	// both, which not every engine supports. A change restarts the members one by one. Default: Require.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=Allow;Require
	Mode TLSMode `json:"mode,omitempty"`

	// clientCertificates is whether the database lets DatabaseUsers authenticate by a certificate of the CA of the cluster. Accept: it asks
	// clients for one, and refuses a client that sends a certificate of another CA. Not every engine supports it. It needs selfSigned and
	// the mode Require. A change restarts the members one by one. Default: Ignore.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=Ignore;Accept
	ClientCertificates TLSClientCertificates `json:"clientCertificates,omitempty"`
}

// TLSIssuerRef names an issuer of cert-manager.
type TLSIssuerRef struct {
	// name is the name of the issuer.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// kind is the kind of the issuer: Issuer, in this namespace, ClusterIssuer, or a kind of another group. Default: Issuer.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// group is the API group of the issuer. Default: cert-manager.io.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`
}

// TLSSelfSigned is a CA that the operator creates for one cluster.
type TLSSelfSigned struct{}

// ClusterTLSStatus is the observed state of the certificate of a cluster.
type ClusterTLSStatus struct {
	// secretName is the name of the Secret with the certificate. Its key ca.crt has the CA that clients need.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName,omitempty"`

	// notAfter is the time at which the certificate, or one of its CAs, expires. It is empty while the certificate
	// cannot be read.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`

	// served identifies the certificate that all members serve. It is a hash of public data. While it differs from the
	// certificate in the Secret, members serve the previous one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Served string `json:"served,omitempty"`

	// certificateName is the name of the Certificate of cert-manager that the operator created.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CertificateName string `json:"certificateName,omitempty"`
}
