/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// issuePatience is how long cert-manager may take before the user must act.
const issuePatience = time.Minute

// SelfSigned reports whether the operator issues the certificate of the cluster.
func (s *Situation) SelfSigned() bool {
	return s.Cluster.Spec.TLS != nil && s.Cluster.Spec.TLS.SelfSigned != nil
}

// IssuedByCertManager reports whether cert-manager issues the certificate of the cluster.
func (s *Situation) IssuedByCertManager() bool {
	return s.Cluster.Spec.TLS != nil && s.Cluster.Spec.TLS.IssuerRef != nil
}

// CertificatePending describes the certificate that members have to wait for; "" if they have to wait for none.
func (s *Situation) CertificatePending() string {
	if s.Cluster.Spec.TLS == nil || s.TLS.Certificate.Valid() {
		return ""
	}
	return fmt.Sprintf("members wait for the certificate in Secret %s", engine.TLSSecret(s.Cluster))
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
		"Secret %s with the CA of the cluster is invalid: %s. Restore the Secret, or delete it: the operator then creates another CA, and clients need the new ca.crt",
		s.TLS.Authority.Name, s.TLS.Authority.Problem)}
}

func (s *Situation) issuerProblem() *Stall {
	issuance, issuer := s.TLS.Issuance, s.Cluster.Spec.TLS.IssuerRef
	if issuance.Refused != "" {
		return &Stall{dbv1.ReasonCertManagerMissing, fmt.Sprintf("spec.tls.issuerRef needs cert-manager: %s", issuance.Refused)}
	}
	if s.TLS.Certificate.Valid() || issuance.Pending(s.At) < issuePatience {
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

// Loadable reports whether all members run, and need no restart before they can serve the certificate.
func (s *Situation) Loadable() bool {
	_, known := s.Revision()
	return known && s.Ready() >= s.Wanted && !s.AwaitsRestart()
}

// AwaitsRestart reports whether a member has to restart before all serve the certificate.
func (s *Situation) AwaitsRestart() bool { return slices.ContainsFunc(s.Outdated(), s.restartsFirst) }

// restartsFirst reports whether an outdated member loads the certificate by a restart: the operator is about to restart it, or its
// pod does not have the Secret. Otherwise the user decides when it restarts, and the previous certificate may expire before.
func (s *Situation) restartsFirst(m state.Member) bool {
	return !s.UserRestarts() || !s.Reloads() || m.Certificate != s.TLS.Certificate.Name
}

// Served reports whether all members serve the certificate. Members of an engine that cannot reload it restart instead.
func (s *Situation) Served() bool {
	if !s.Loadable() {
		return false
	}
	return !s.Reloads() || s.ServedBefore() == s.TLS.Certificate.Identity || len(s.Members) == 0
}

// ServedBefore identifies the certificate that all members are known to serve. If the status has lost it, one reload repeats.
func (s *Situation) ServedBefore() string {
	if identity := s.TLS.Certificate.Identity; s.TLS.Reloading && s.TLS.Reload.Succeeded && s.TLS.Reloaded == identity {
		return identity
	}
	if before := s.Cluster.Status.TLS; before != nil {
		return before.Served
	}
	return ""
}
