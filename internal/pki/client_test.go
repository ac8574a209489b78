/*
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"crypto/x509"
	"strings"
	"testing"
)

func issuedTo(t *testing.T, a Authority, name string) Files {
	t.Helper()
	files, err := a.IssueClient(name, start)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestACertificateOfAUserIsForNoServerAndThatOfAServerForNoUser(t *testing.T) {
	authority := newCA(t, start)
	user, server := issuedTo(t, authority, "orders"), issued(t, authority, start)
	chain, err := parse(user[CertificateKey])
	if err != nil {
		t.Fatal(err)
	}
	leaf := chain[0]
	if leaf.Subject.CommonName != "orders" || len(leaf.DNSNames) > 0 || leaf.IsCA || len(leaf.ExtKeyUsage) != 1 || leaf.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth {
		t.Errorf("it is for %s %v, %v", leaf.Subject, leaf.DNSNames, leaf.ExtKeyUsage)
	}
	if facts := JudgeClient(user, "orders", start); facts.Problem != "" || !facts.NotAfter.Equal(start.Add(LeafLife)) {
		t.Errorf("it %s, and is valid until %s", facts.Problem, facts.NotAfter)
	}
	for _, c := range []struct{ problem, want string }{
		{Judge(user, nil, start).Problem, "not for servers"},
		{JudgeClient(server, "orders", start).Problem, "not for clients"}, // although its common name is that of the cluster
		{JudgeClient(user, "Orders", start).Problem, `for the user "orders"`},
		{JudgeClient(with(user, AuthorityKey, newCA(t, start).Files()[AuthorityKey]), "orders", start).Problem, "no CA in ca.crt issued"},
		{JudgeClient(with(user, PrivateKeyKey, server[PrivateKeyKey]), "orders", start).Problem, "does not match tls.crt"},
		{JudgeClient(user, "orders", start.Add(LeafLife)).Problem, "expired"},
		{JudgeClient(Files{AuthorityKey: user[AuthorityKey]}, "orders", start).Problem, "has no tls.crt, tls.key"},
	} {
		if !strings.Contains(c.problem, c.want) {
			t.Errorf("got %q, want %q", c.problem, c.want)
		}
	}
}

// Members load the CAs some minutes after a renewal.
func TestAServerThatKnowsOnlyThePreviousCAAcceptsAUserOfTheNextOne(t *testing.T) {
	before := newCA(t, start)
	after, err := before.Renew(start)
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]Files{
		"the new certificate, with the previous CA":  with(issuedTo(t, after, "billing"), AuthorityKey, before.Files()[AuthorityKey]),
		"the previous certificate, with the new CAs": with(issuedTo(t, before, "billing"), AuthorityKey, after.Files()[AuthorityKey]),
	} {
		if problem := JudgeClient(files, "billing", start).Problem; problem != "" {
			t.Errorf("%s: it %s", name, problem)
		}
	}
}
