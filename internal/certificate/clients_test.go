/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate_test

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestMembersThatAskForCertificatesGetTheCAOfClients(t *testing.T) {
	accept := func(c *dbv1.DatabaseCluster) { c.Spec.TLS.ClientCertificates = dbv1.ClientCertificatesAccept }
	for name, c := range map[string]struct {
		change change
		why    string
	}{
		"the field is set": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { accept(c) }, "members need the CA of clients, too"},
		"they have it": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			accept(c)
			o.TLS.Certificate.Clients = true
		}, ""},
		"the field is not set":   {func(*dbv1.DatabaseCluster, *state.Observed) {}, ""},
		"passwords without TLS":  {func(c *dbv1.DatabaseCluster, _ *state.Observed) { accept(c); c.Spec.TLS.Mode = dbv1.TLSAllow }, ""},
		"the certificate is old": {func(c *dbv1.DatabaseCluster, o *state.Observed) { accept(c); o.TLS.Certificate = state.Certificate{} }, "it does not exist"},
		"an issuer of other users": {func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			accept(c)
			c.Spec.TLS.SelfSigned = nil
			c.Spec.TLS.SecretName = "mine"
		}, ""},
	} {
		cluster, observed := encrypted(t)
		observed.Engine.Spec.Actions.Objects = &dbv1.EngineObjects{Certificates: dbv1.CertificatesSupported}
		c.change(cluster, &observed)
		var issues []certificate.IssueCertificate
		p := plans.Decide(cluster, observed)
		if waits := strings.Contains(plans.Text(p), "members wait for the CA of clients"); waits != strings.HasPrefix(c.why, "members need") || waits && plans.Disrupts(p) {
			t.Errorf("%s: %s", name, plans.Text(p)) // a pod that mounts a missing key does not start
		}
		for _, o := range p.Operations {
			if issue, is := o.(certificate.IssueCertificate); is {
				issues = append(issues, issue)
			}
		}
		if (len(issues) == 1) != (c.why != "") || c.why != "" && (issues[0].Why != c.why || !issues[0].Clients) {
			t.Errorf("%s: %+v", name, issues)
		}
	}
}
