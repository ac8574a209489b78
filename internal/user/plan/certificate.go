/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// maxCommonName is the maximum size of the common name of a certificate in bytes: RFC 5280.
const maxCommonName = 64

// certified reports whether the Secret of a user has a certificate, or gets one. The database must have the user before: otherwise the
// operator would issue certificates with the names of accounts that belong to others.
func certified(u *dbv1.DatabaseUser, seen UserFacts) bool {
	return accounts.ByCertificate(u) && u.Status.Applied != "" && u.Status.ClusterUID == string(seen.Cluster.UID)
}

// present are the facts of the certificate in the Secret, which the server knows by the CAs of the cluster.
func present(u *dbv1.DatabaseUser, seen UserFacts) pki.CertificateFacts {
	files := pki.Files{}
	if seen.Secret != nil {
		copyPair(files, seen.Secret.Data)
	}
	files[pki.AuthorityKey] = []byte(seen.Authority.CA)
	return pki.JudgeClient(files, u.Spec.Name, seen.At)
}

// copyPair copies a certificate and its key.
func copyPair(to, from map[string][]byte) {
	for _, key := range []string{pki.CertificateKey, pki.PrivateKeyKey} {
		to[key] = from[key]
	}
}

// due is why a certificate has to be issued now; "" if it has not.
func due(u *dbv1.DatabaseUser, seen UserFacts, rotates bool) string {
	switch facts := present(u, seen); {
	case facts.Problem != "":
		return "the Secret " + facts.Problem
	case facts.Issuer != seen.Authority.Issuer:
		return "the CA has changed"
	case !seen.At.Before(pki.RenewAt(facts.NotBefore, facts.NotAfter)):
		return "two thirds of its life are over"
	case rotates:
		return "the password is replaced, too"
	default:
		return ""
	}
}

// obsolete reports whether the Secret still has a certificate that the user should not have any more. Only the status shows that it is not
// one that a person has added.
func obsolete(u *dbv1.DatabaseUser, seen UserFacts) bool {
	return !accounts.ByCertificate(u) && u.Status.Certificate != nil && seen.Secret != nil && len(seen.Secret.Data[pki.PrivateKeyKey]) > 0
}

// uncertifiable is why the operator cannot issue the certificate; nil if it can, or need not.
func uncertifiable(u *dbv1.DatabaseUser, seen UserFacts) *accounts.Verdict {
	switch {
	case accounts.ByCertificate(u) && len(u.Spec.Name) > maxCommonName:
		return stalled(dbv1.ReasonCertificateUnsupported, fmt.Sprintf("spec.name has %d bytes, and the name in a certificate has at most %d: "+
			"create another DatabaseUser", len(u.Spec.Name), maxCommonName))
	case certified(u, seen) && !seen.Authority.Valid():
		return &accounts.Verdict{Reason: dbv1.ReasonObjectPending, Message: fmt.Sprintf(
			"the CA of DatabaseCluster %s, in Secret %s, does not exist yet or cannot be used", u.Spec.ClusterRef.Name,
			naming.Authority(u.Spec.ClusterRef.Name))}
	default:
		return nil
	}
}

// certificate is what a pass knows about the certificate of a user.
type certificate struct {
	// expiry is that of the certificate in the Secret, and renewal the time until the next one; zero if it is not there.
	expiry  time.Time
	renewal time.Duration
	// none is true if the user has no certificate that counts.
	none bool
}

// certify completes a plan: a user who should log in by a certificate is not ready without one.
func (p UserPlan) certify(u *dbv1.DatabaseUser, seen UserFacts) UserPlan {
	switch {
	case !certified(u, seen):
		p.certificate.none = true
		if accounts.ByCertificate(u) && p.Ready {
			p.Ready, p.Reason, p.Message = false, dbv1.ReasonObjectPending, "the database has the user. The operator issues its certificate"
		}
	case p.version != "":
		facts := present(u, seen)
		p.certificate.expiry = facts.NotAfter
		p.certificate.renewal = pki.RenewAt(facts.NotBefore, facts.NotAfter).Sub(seen.At)
	}
	return p
}

// Certificate is the certificate in the Secret, which the database accepts from then on; nil if there is none.
func (p UserPlan) Certificate(u *dbv1.DatabaseUser, err error) *dbv1.UserCertificateStatus {
	switch {
	case !p.certificate.expiry.IsZero():
		return &dbv1.UserCertificateStatus{NotAfter: metav1.NewTime(p.certificate.expiry)}
	case p.certificate.none && err == nil:
		return nil
	default:
		return u.Status.Certificate
	}
}
