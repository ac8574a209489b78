/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// report is what a pass reports about the certificate.
type report struct {
	*situation.Situation
	subject.Executed
}

func write(s *situation.Situation) subject.Report {
	return func(o subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		r := report{s, o}
		status.TLS = r.tls()
		known := meta.FindStatusCondition(s.Cluster.Status.Conditions, dbv1.ConditionTLSReady) != nil
		if (known || s.Cluster.Spec.TLS != nil) && !s.Deleting() {
			return []metav1.Condition{r.tlsReady()}
		}
		return nil
	}
}

// tls reports the certificate; nil without TLS. A deletion does not read it.
func (r report) tls() *dbv1.ClusterTLSStatus {
	before := r.Cluster.Status.TLS
	if r.Deleting() {
		return before
	}
	name := r.certificateName(before)
	if r.Cluster.Spec.TLS == nil {
		if name == "" {
			return nil
		}
		return &dbv1.ClusterTLSStatus{CertificateName: name}
	}
	seen := &dbv1.ClusterTLSStatus{SecretName: engine.TLSSecret(r.Cluster), CertificateName: name, Served: r.served()}
	if at := r.TLS.Certificate.NotAfter; !at.IsZero() {
		seen.NotAfter = &metav1.Time{Time: at}
	}
	return seen
}

// certificateName is the Certificate of cert-manager, until it is deleted.
func (r report) certificateName(before *dbv1.ClusterTLSStatus) string {
	_, applies := operation.Find[operation.Apply](r.Operations)
	switch live := r.TLS.Issuance.Live; {
	case live != nil:
		return live.GetName()
	case before != nil && (r.TLS.Issuance.Refused != "" || applies):
		return before.CertificateName
	default:
		return ""
	}
}

// served identifies the certificate that all members serve. Members that do not exist yet will start with the current one.
func (r report) served() string {
	first := len(r.Members) == 0 && r.writesMembers()
	if r.Reloads() && r.TLS.Certificate.Valid() && first {
		return r.TLS.Certificate.Identity
	}
	return servedBefore(r.Situation)
}

// writesMembers reports whether the pass writes the StatefulSet. Then it has decided by a live read that there are no members.
func (r report) writesMembers() bool {
	for _, o := range r.Operations {
		if apply, is := o.(operation.Apply); is && apply.RecordsStoredSpec() {
			return true
		}
	}
	return false
}

// tlsReady is set while spec.tls is set, and after that as False.
func (r report) tlsReady() metav1.Condition {
	stalled, current := r.Executed.Stalled, r.TLS.Certificate
	switch text, failed := reloading(r.Situation); {
	case r.Cluster.Spec.TLS == nil:
		return subject.Condition(dbv1.ConditionTLSReady, false, dbv1.ReasonNoTLS, "spec.tls is not set")
	case r.Incompatible != nil && !current.Valid():
		return subject.Condition(dbv1.ConditionTLSReady, false, r.Incompatible.Reason, r.Incompatible.Message)
	case !current.Valid() && stalled != nil:
		return subject.Condition(dbv1.ConditionTLSReady, false, stalled.Reason, stalled.Message)
	case !current.Valid():
		return subject.Condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificatePending, r.CertificatePending())
	case failed:
		return subject.Condition(dbv1.ConditionTLSReady, false, dbv1.ReasonReloadFailed, text)
	case served(r.Situation):
		return subject.Condition(dbv1.ConditionTLSReady, true, dbv1.ReasonCertificateServed, fmt.Sprintf(
			"members serve the certificate in Secret %s, which is valid until %s", current.Name, current.NotAfter.UTC().Format(time.RFC3339)))
	case text != "":
		return subject.Condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificateReloading, text)
	default:
		return subject.Condition(dbv1.ConditionTLSReady, false, dbv1.ReasonCertificateReloading, "members load the certificate when they restart")
	}
}
