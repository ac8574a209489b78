/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"cmp"
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// issuanceTimeout is how long cert-manager may take before the user must act.
const issuanceTimeout = time.Minute

// SelfSigned reports whether the operator issues the certificate of the cluster.
func (s *Situation) SelfSigned() bool {
	return s.Cluster.Spec.TLS != nil && s.Cluster.Spec.TLS.SelfSigned != nil
}

// IssuedByCertManager reports whether cert-manager issues the certificate of the cluster.
func (s *Situation) IssuedByCertManager() bool {
	return s.Cluster.Spec.TLS != nil && s.Cluster.Spec.TLS.IssuerRef != nil
}

// CertificatePending describes the certificate that members have to wait for; "" if they have to wait for none. The kubelet starts no
// pod without a key that it mounts.
func (s *Situation) CertificatePending() string {
	switch current := s.TLS.Certificate; {
	case s.Cluster.Spec.TLS == nil:
		return ""
	case !current.Valid():
		return fmt.Sprintf("members wait for the certificate in Secret %s", engine.TLSSecret(s.Cluster))
	case engine.AsksForCertificates(s.Cluster) && !current.Clients:
		return fmt.Sprintf("members wait for the CA of clients in Secret %s", engine.TLSSecret(s.Cluster))
	default:
		return ""
	}
}

// certificateProblem is why there is no certificate until the user acts.
func (s *Situation) certificateProblem() *Stall {
	switch {
	case s.Cluster.Spec.TLS == nil || s.OwnedByAnother("Secret", engine.TLSSecret(s.Cluster)):
		return nil
	case s.SelfSigned():
		return s.authorityProblem()
	case s.IssuedByCertManager():
		return s.issuerProblem()
	case s.TLS.Certificate.Problem != "":
		return &Stall{dbv1.ReasonCertificateInvalid, fmt.Sprintf("Secret %s, which spec.tls.secretName names, %s",
			s.TLS.Certificate.Name, s.TLS.Certificate.Problem)}
	default:
		return nil
	}
}

// authorityProblem reports a CA that cannot issue certificates. The operator replaces an invalid certificate, but never a CA:
// clients would not accept certificates of another one.
func (s *Situation) authorityProblem() *Stall {
	if s.TLS.Authority.Problem == "" {
		return nil
	}
	return &Stall{dbv1.ReasonCertificateInvalid, fmt.Sprintf(
		"Secret %s with the CA of the cluster is invalid: %s. Restore the Secret, or delete it: the operator then creates another CA, and "+
			"clients need the new ca.crt",
		s.TLS.Authority.Name, s.TLS.Authority.Problem)}
}

func (s *Situation) issuerProblem() *Stall {
	issuance, issuer := s.TLS.Issuance, s.Cluster.Spec.TLS.IssuerRef
	if issuance.Refused != "" {
		return &Stall{dbv1.ReasonCertManagerMissing, fmt.Sprintf("spec.tls.issuerRef needs cert-manager: %s", issuance.Refused)}
	}
	if s.TLS.Certificate.Valid() || issuance.Pending(s.At) < issuanceTimeout {
		return nil
	}
	if s.TLS.Certificate.Found() && issuance.Message == "" {
		return &Stall{dbv1.ReasonCertificateInvalid, fmt.Sprintf("Secret %s, which cert-manager created for spec.tls.issuerRef, %s",
			s.TLS.Certificate.Name, s.TLS.Certificate.Problem)}
	}
	return &Stall{dbv1.ReasonCertificateNotIssued, fmt.Sprintf(
		"cert-manager has not issued Certificate %s: %s. Check that %s %s, which spec.tls.issuerRef names, exists and is ready",
		naming.Certificate(s.Cluster.Name), cmp.Or(issuance.Message, "it reports no cause"), cmp.Or(issuer.Kind, "Issuer"), issuer.Name)}
}

// Reloads reports whether members load a renewed certificate without a restart.
func (s *Situation) Reloads() bool { return engine.Reloads(s.Engine) }
