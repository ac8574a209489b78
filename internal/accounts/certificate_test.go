/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func byCertificate(u *dbv1.DatabaseUser) { u.Spec.Authentication = dbv1.AuthenticateCertificate }

func hasCertificate(u *dbv1.DatabaseUser) {
	u.Status.Certificate = &dbv1.UserCertificateStatus{NotAfter: metav1.NewTime(plans.Now.Add(time.Hour))}
}

// accepting lets a cluster and its engine accept certificates.
func accepting(changes ...func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine)) (*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
	cluster, engine := plans.Orders(), &dbv1.DatabaseEngine{}
	engine.Name, cluster.Spec.Engine = "any", "any"
	cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, ClientCertificates: dbv1.ClientCertificatesAccept}
	engine.Spec.Actions.Objects = &dbv1.EngineObjects{Certificates: dbv1.CertificatesSupported, PasswordKey: "password"}
	for _, change := range changes {
		change(cluster, engine)
	}
	return cluster, engine
}

func TestAUserLogsInByACertificateOnlyWhereTheClusterAcceptsIt(t *testing.T) {
	for want, change := range map[string]func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine){
		"": func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {},
		"users of engine any cannot log in by a certificate": func(_ *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
			e.Spec.Actions.Objects.Certificates = ""
		},
		"DatabaseCluster orders does not accept certificates of clients. Set its spec.tls.clientCertificates": func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) {
			c.Spec.TLS.ClientCertificates = ""
		},
		"DatabaseCluster orders does not accept certificates": func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) { c.Spec.TLS = nil },
		"DatabaseCluster orders does not accept certificates of clients": func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) {
			c.Spec.TLS.Mode = dbv1.TLSAllow
		},
		"DatabaseCluster orders does not accept": func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) {
			c.Spec.TLS.SelfSigned, c.Spec.TLS.IssuerRef = nil, &dbv1.TLSIssuerRef{Name: "company"}
		},
	} {
		cluster, engine := accepting(change)
		v, refused := accounts.Unsupported(accounts.OfUser(user("a", byCertificate)), accounts.Seen{Cluster: cluster, Engine: engine})
		if refused != (want != "") || refused && (v.Reason != dbv1.ReasonCertificateUnsupported || !v.Stalled || !strings.HasPrefix(v.Message, want)) {
			t.Errorf("got %+v, want %q", v, want)
		}
		for _, u := range []*dbv1.DatabaseUser{user("a"), user("a", byCertificate, deletes, deleted)} {
			if v, refused := accounts.Unsupported(accounts.OfUser(u), accounts.Seen{Cluster: cluster, Engine: engine}); refused {
				t.Errorf("another user is refused: %+v", v)
			}
		}
		s := seen(t, accounts.Facts{Declared: all(user("a", byCertificate))}, func(o *state.Observed) { o.Engine = engine })
		s.Cluster.Spec.TLS = cluster.Spec.TLS
		if (started(s) == nil) != (want != "") {
			t.Errorf("%q: the Job gets a user without a certificate", want)
		}
	}
}

// The database learns of the certificate only when the Secret has it. Other users have the same content as with a previous version.
func TestTheActionKnowsACertificateOnceTheSecretHasIt(t *testing.T) {
	plain := accounts.OfUser(user("a"))
	for name, c := range map[string]struct {
		user *dbv1.DatabaseUser
		want protocol.Authentication
	}{
		"a password":                       {user("a"), ""},
		"a certificate that it had before": {user("a", hasCertificate), ""},
		"not issued yet":                   {user("a", byCertificate), ""},
		"issued":                           {user("a", byCertificate, hasCertificate), protocol.ByCertificate},
	} {
		d := accounts.OfUser(c.user)
		if got := accounts.Document([]accounts.Declared{d}).Users[0].Authentication; got != c.want {
			t.Errorf("%s: the document has %q", name, got)
		}
		if (d.Content() == plain.Content()) != (c.want == "") {
			t.Errorf("%s: the content does not show it", name)
		}
	}
}
