/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"bytes"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// TLS is the observed state of a cluster's certificate. It contains no private key. It is read only if the spec asks for TLS.
type TLS struct {
	// Certificate is the Secret with the certificate. Authority is the Secret with the CA of the cluster; it is read only if the CA
	// belongs to the cluster.
	Certificate, Authority Certificate
	// Issuance is the Certificate of cert-manager. It is read only if the spec names an issuer.
	Issuance Issuance
}

// Certificate is a Secret with a certificate, as it was read. The zero value is one that does not exist.
type Certificate struct {
	Name    string
	UID     types.UID
	Version string
	// Owned is true if the Secret is deleted with the cluster.
	Owned bool
	// Renewal is the value of the annotation for which the operator issued the certificate.
	Renewal string
	// Clients is true if members that mount the Secret know the present CAs of client certificates.
	Clients bool
	pki.CertificateFacts
}

// CertificateOf returns a Secret with a certificate and its facts.
func CertificateOf(secret *corev1.Secret, facts pki.CertificateFacts) Certificate {
	return Certificate{
		Name: secret.Name, UID: secret.UID, Version: secret.ResourceVersion, Owned: metav1.GetControllerOfNoCopy(secret) != nil,
		Renewal: secret.Annotations[dbv1.AnnotationRenewCertificate], CertificateFacts: facts,
		Clients: len(secret.Data[pki.ClientsKey]) > 0 && bytes.Equal(secret.Data[pki.ClientsKey], secret.Data[pki.AuthorityKey]),
	}
}

// Found reports whether the Secret exists.
func (c Certificate) Found() bool { return c.UID != "" }

// Valid reports whether members can serve the certificate, and clients can verify it.
func (c Certificate) Valid() bool { return c.Found() && c.Problem == "" }

// Outlived reports whether two thirds of the life of the certificate are over.
func (c Certificate) Outlived(at time.Time) bool {
	return !at.Before(pki.RenewAt(c.NotBefore, c.NotAfter))
}

// IsFor reports whether these are the DNS names of the certificate, in any order.
func (c Certificate) IsFor(hosts []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(c.Names)), slices.Sorted(slices.Values(hosts)))
}

// Issuance is a Certificate of cert-manager, as it was read.
type Issuance struct {
	// Live is the object; nil if it does not exist.
	Live *unstructured.Unstructured
	// Refused is why the operator cannot use cert-manager; "" if it can.
	Refused string
	// Message is what cert-manager reports while the certificate is not ready; "" if it is ready, or not known.
	Message string
}

// IssuanceOf returns the facts of a Certificate.
func IssuanceOf(live *unstructured.Unstructured) Issuance {
	facts := live.DeepCopy()
	delete(facts.Object, "status")
	facts.SetManagedFields(nil)
	issuance := Issuance{Live: facts}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] == "Ready" && condition["status"] != "True" {
			issuance.Message, _ = condition["message"].(string)
		}
	}
	return issuance
}

// Pending returns how long cert-manager has had to issue the certificate.
func (i Issuance) Pending(at time.Time) time.Duration {
	if i.Live == nil {
		return 0
	}
	return at.Sub(i.Live.GetCreationTimestamp().Time)
}
