/*
SPDX-License-Identifier: Apache-2.0
*/

// Package certificate decides about the certificate of a cluster: who issues it, when it is renewed, and how members load it.
//
// The Secrets and the Job contain the progress, so everything continues after a crash at any point. Issuing and reloading disturb no
// member, so they wait for no phase and no phase waits for them, except that the first members need a certificate.
package certificate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the certificate of the cluster.
var Subject = subject.Subject{Read: readTLS, Decide: decide, Transitions: []operation.Transition{
	operation.Reported(dbv1.ConditionTLSReady, metav1.ConditionFalse, dbv1.ReasonReloadFailed, corev1.EventTypeWarning),
}}

func decide(s *situation.Situation) subject.Decision {
	d := subject.Decision{Report: write(s)}
	if state.FactsOf[Facts](s.Observed).Reload.AwaitsPod() {
		d.RequeueAfter = situation.ProgressRequeue
	}
	if !s.Deleting() {
		d.Operations, d.Stalled, d.RequeueAfter = upkeep(s), stalled(s), situation.Sooner(d.RequeueAfter, requeueAfter(s))
	}
	return d
}

// upkeep are the operations on the certificate that every pass decides.
func upkeep(s *situation.Situation) operation.List {
	all := abandon(s)
	if s.Cluster.Spec.TLS == nil || s.OwnedByAnother("Secret", engine.TLSSecret(s.Cluster)) {
		return all
	}
	switch {
	case s.ForeignService(): // its clients would accept this cluster instead
	case s.SelfSigned():
		all = append(all, issue(s)...)
	case s.IssuedByCertManager():
		all = append(all, request(s)...)
	}
	return append(all, reload(s)...)
}

// issue issues the certificate, and the CA before it.
func issue(s *situation.Situation) operation.List {
	authority := s.TLS.Authority
	if s.OwnedByAnother("Secret", naming.Authority(s.Cluster.Name)) || authority.Problem != "" {
		return nil
	}
	renewal := s.Cluster.Annotations[dbv1.AnnotationRenewCertificate]
	o := IssueCertificate{
		Certificate: s.TLS.Certificate, Name: naming.Certificate(s.Cluster.Name),
		Authority: authority, AuthorityName: naming.Authority(s.Cluster.Name),
		NewAuthority: !authority.Found() || authority.Outlived(s.At), Hosts: state.FactsOf[Facts](s.Observed).Hosts,
		Clients: engine.AsksForCertificates(s.Cluster), Renewal: renewal, Why: due(s, renewal),
	}
	if o.Why == "" {
		return nil
	}
	return operation.List{o}
}

// due is why a certificate has to be issued now; "" if it has not.
func due(s *situation.Situation, renewal string) string {
	certificate, authority := s.TLS.Certificate, s.TLS.Authority
	switch {
	case !certificate.Found():
		return "it does not exist"
	case certificate.Problem != "":
		return "the Secret " + certificate.Problem
	case !authority.Found(), authority.Outlived(s.At):
		return "the CA has to be renewed"
	case certificate.Issuer != authority.Issuer:
		return "the CA has changed"
	case certificate.Outlived(s.At):
		return "two thirds of its life are over"
	case !certificate.IsFor(state.FactsOf[Facts](s.Observed).Hosts):
		return "its DNS names have changed"
	case engine.AsksForCertificates(s.Cluster) && !certificate.Clients:
		return "members need the CA of clients, too"
	case certificate.Renewal != renewal:
		return fmt.Sprintf("the annotation %s has changed", dbv1.AnnotationRenewCertificate)
	default:
		return ""
	}
}

// request requests the certificate from cert-manager.
func request(s *situation.Situation) operation.List {
	if s.TLS.Issuance.Refused != "" || s.OwnedByAnother(naming.CertificateKind.Kind, naming.Certificate(s.Cluster.Name)) {
		return nil
	}
	var all operation.List
	child := CertManagerCertificate(s.Cluster, state.FactsOf[Facts](s.Observed).Hosts)
	if apply, needed := operation.ApplyOf(child, s.TLS.Issuance.Live); needed {
		all = append(all, apply)
	}
	if certificate := s.TLS.Certificate; certificate.Found() && !certificate.Owned {
		all = append(all, own(s, certificate))
	}
	return all
}

// abandon deletes the Certificate of cert-manager when the spec no longer names an issuer. Otherwise cert-manager would keep writing
// the Secret.
func abandon(s *situation.Situation) operation.List {
	live := s.TLS.Issuance.Live
	if live == nil || s.IssuedByCertManager() {
		return nil
	}
	return operation.Deletion(operation.TargetOf(live.GroupVersionKind(), live).Because("spec.tls names no issuer"))
}

// own sets the cluster as the owner of the Secret that cert-manager created, so that it is deleted with the cluster.
func own(s *situation.Situation, certificate state.Certificate) operation.Change {
	secret := operation.Target{Kind: operation.Core("Secret"), Name: certificate.Name, UID: certificate.UID, Version: certificate.Version}
	owned, text := secret.In(s.Cluster.Namespace), "become the owner of Secret "+certificate.Name
	owned.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(s.Cluster, dbv1.GroupVersion.WithKind("DatabaseCluster"))})
	return operation.Change{
		Work:    operation.Work{Is: operation.Aside, Text: text},
		Patches: []operation.Patch{{Before: secret.In(s.Cluster.Namespace), After: owned, Text: text}},
	}
}

// requestedRequeue is the interval for checking whether cert-manager has issued a certificate.
const requestedRequeue = 5 * time.Second

// requeueAfter returns the time after which these decisions change without an event; 0 for never.
func requeueAfter(s *situation.Situation) time.Duration {
	if s.Cluster.Spec.TLS == nil {
		return 0
	}
	var soonest time.Duration
	at := func(when time.Time) {
		if when.After(s.At) {
			soonest = situation.Sooner(soonest, when.Sub(s.At))
		}
	}
	at(s.TLS.Certificate.Changes(s.At))
	if s.SelfSigned() {
		at(pki.RenewAt(s.TLS.Certificate.NotBefore, s.TLS.Certificate.NotAfter))
		at(pki.RenewAt(s.TLS.Authority.NotBefore, s.TLS.Authority.NotAfter))
	}
	if s.IssuedByCertManager() && !s.TLS.Certificate.Valid() {
		soonest = situation.Sooner(soonest, requestedRequeue)
	}
	return situation.Sooner(soonest, run(s).Left)
}
