/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// ServesTLS reports whether clients connect to the companion by TLS: it is of the engine, and the cluster serves TLS.
func ServesTLS(companion *dbv1.DatabaseCompanion, cluster *dbv1.DatabaseCluster) bool {
	return companion.Spec.Companion != "" && cluster != nil && cluster.Spec.TLS != nil
}

// Hosts are the names by which clients reach the companion.
func Hosts(companion *dbv1.DatabaseCompanion) []string {
	host := naming.ServiceHost(companion.Name, companion.Namespace)
	return []string{host, companion.Name, companion.Name + "." + companion.Namespace}
}

// uncertified is why the companion has no certificate; nil if it has one, or the operator can issue it. Only the CA of the cluster issues
// certificates for companions: clients know that one from the connection Secret.
func uncertified(companion *dbv1.DatabaseCompanion, seen CompanionFacts) *obstacle {
	switch {
	case !ServesTLS(companion, seen.Cluster):
		return nil
	case seen.Cluster.Spec.TLS.SelfSigned == nil:
		return stalled(dbv1.ReasonTLSUnsupported, "DatabaseCluster %s has a certificate of another CA, which cannot issue one for this "+
			"companion: set its spec.tls.selfSigned, or connect to the cluster directly", seen.Cluster.Name)
	case !seen.Authority.Valid():
		return pending("the CA of DatabaseCluster %s, in Secret %s, does not exist yet or cannot be used", seen.Cluster.Name,
			naming.Authority(seen.Cluster.Name))
	default:
		return nil
	}
}

// due is why the certificate has to be issued now; "" if it has not.
func due(companion *dbv1.DatabaseCompanion, seen CompanionFacts) string {
	if !ServesTLS(companion, seen.Cluster) {
		return ""
	}
	switch c := seen.Certificate; {
	case !c.Found():
		return "the companion has none"
	case c.Problem != "":
		return "the Secret " + c.Problem
	case c.Issuer != seen.Authority.Issuer:
		return "the CA has changed"
	case c.CA != seen.Authority.CA:
		return "the certificates of the CA have changed"
	case c.Outlived(seen.At):
		return "two thirds of its life are over"
	default:
		return ""
	}
}

// renewal is the time until the certificate is issued again; 0 without one.
func renewal(seen CompanionFacts) time.Duration {
	if !seen.Certificate.Valid() {
		return 0
	}
	return max(time.Second, pki.RenewAt(seen.Certificate.NotBefore, seen.Certificate.NotAfter).Sub(seen.At))
}

// CertifyCompanion writes the Secret with a new certificate of a companion. Its key exists only there.
type CertifyCompanion struct {
	companion *dbv1.DatabaseCompanion
	facts     CompanionFacts
	why       string
}

// Properties of CertifyCompanion. A stale view must not replace a certificate.
func (CertifyCompanion) Properties() operation.Properties { return operation.Properties{LiveRead: true} }

func (i CertifyCompanion) String() string {
	return "issue the certificate in Secret " + naming.CompanionCertificate(i.companion.Name)
}
