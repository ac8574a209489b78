/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/certificate"
)

// tls reports the certificate; nil without TLS. A deletion does not read it.
func (p Pass) tls() *dbv1.ClusterTLSStatus {
	before := p.Cluster.Status.TLS
	if p.Deleting() {
		return before
	}
	name := p.certificateName(before)
	if p.Cluster.Spec.TLS == nil {
		if name == "" {
			return nil
		}
		return &dbv1.ClusterTLSStatus{CertificateName: name}
	}
	seen := &dbv1.ClusterTLSStatus{SecretName: engine.TLSSecret(p.Cluster), CertificateName: name, Served: p.served()}
	if at := p.TLS.Certificate.NotAfter; !at.IsZero() {
		seen.NotAfter = &metav1.Time{Time: at}
	}
	return seen
}

// certificateName is the Certificate of cert-manager, until it is deleted.
func (p Pass) certificateName(before *dbv1.ClusterTLSStatus) string {
	_, applies := operation.Find[operation.Apply](p.Plan.Operations)
	switch live := p.TLS.Issuance.Live; {
	case live != nil:
		return live.GetName()
	case before != nil && (p.TLS.Issuance.Refused != "" || applies):
		return before.CertificateName
	default:
		return ""
	}
}

// served identifies the certificate that all members serve. Members that do not exist yet will start with the current one.
func (p Pass) served() string {
	first := len(p.Members) == 0 && p.writesMembers()
	if p.Reloads() && p.TLS.Certificate.Valid() && first {
		return p.TLS.Certificate.Identity
	}
	return p.ServedBefore()
}

// writesMembers reports whether the pass writes the StatefulSet. Then it has decided by a live read that there are no members.
func (p Pass) writesMembers() bool {
	for _, o := range p.Plan.Operations {
		if apply, is := o.(operation.Apply); is && apply.RecordsStoredSpec() {
			return true
		}
	}
	return false
}

// tlsReady is set while spec.tls is set, and after that as False.
func (p Pass) tlsReady() metav1.Condition {
	stalled, current := p.Plan.Stalled, p.TLS.Certificate
	switch text, failed := certificate.Reloading(p.Situation); {
	case p.Cluster.Spec.TLS == nil:
		return condition(dbv1.ConditionTLSReady, false, dbv1.ReasonNoTLS, "spec.tls is not set")
	case p.Incompatible != nil && !current.Valid():
		return condition(dbv1.ConditionTLSReady, false, p.Incompatible.Reason, p.Incompatible.Message)
	case !current.Valid() && stalled != nil:
		return condition(dbv1.ConditionTLSReady, false, stalled.Reason, stalled.Message)
	case !current.Valid():
		return condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificatePending, p.CertificatePending())
	case failed:
		return condition(dbv1.ConditionTLSReady, false, dbv1.ReasonReloadFailed, text)
	case p.Served():
		return condition(dbv1.ConditionTLSReady, true, dbv1.ReasonCertificateServed, fmt.Sprintf(
			"members serve the certificate in Secret %s, which is valid until %s", current.Name, current.NotAfter.UTC().Format(time.RFC3339)))
	case text != "":
		return condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificateReloading, text)
	default:
		return condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificateReloading, "members load the certificate when they restart")
	}
}
