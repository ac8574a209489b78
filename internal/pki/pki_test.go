/*
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hosts = []string{"orders", "orders.shop.svc", "orders-0.orders-headless", "*.orders-headless.shop.svc", "localhost"}
)

func newCA(t *testing.T, now time.Time) Authority {
	t.Helper()
	a, err := NewAuthority("orders", now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issued(t *testing.T, a Authority, now time.Time) Files {
	t.Helper()
	files, err := a.Issue(hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// with replaces one file; nil removes it.
func with(files Files, key string, text []byte) Files {
	changed := maps.Clone(files)
	changed[key] = text
	return changed
}

func TestAnIssuedCertificateIsValidForItsHosts(t *testing.T) {
	files := issued(t, newCA(t, start), start)
	wanted := []string{hosts[0], hosts[1], hosts[2], "orders-7.orders-headless.shop.svc", "localhost"}
	facts := Judge(files, wanted, start)
	if facts.Problem != "" {
		t.Error(facts.Problem)
	}
	if want := start.Add(LeafLife); !facts.NotAfter.Equal(want) {
		t.Errorf("it is valid until %s, want %s", facts.NotAfter, want)
	}
	if at := RenewAt(facts.NotBefore, facts.NotAfter).Sub(start); at < 59*24*time.Hour || at > 60*24*time.Hour {
		t.Errorf("it is renewed after %s, want two thirds of its life", at)
	}
	if facts.Identity == "" || facts.Issuer == "" {
		t.Errorf("it has no identity: %+v", facts)
	}
}

func TestEveryBadSecretHasAProblemThatNamesTheRemedy(t *testing.T) {
	authority := newCA(t, start)
	good, other := issued(t, authority, start), issued(t, newCA(t, start), start)
	old := newCA(t, start.Add(-AuthorityLife+time.Hour))
	late := start.Add(2 * time.Hour)
	below := subordinate(t, authority)
	cases := map[string]struct {
		files Files
		hosts []string
		now   time.Time
		says  string
	}{
		"no files":                {Files{}, hosts, start, "has no tls.crt, tls.key, ca.crt"},
		"no CA":                   {with(good, AuthorityKey, nil), hosts, start, "has no ca.crt: add it"},
		"empty key":               {with(good, PrivateKeyKey, []byte{}), hosts, start, "has no tls.key: add it"},
		"no PEM":                  {with(good, CertificateKey, []byte("text")), hosts, start, "no certificate in PEM form in tls.crt"},
		"broken certificate":      {with(good, CertificateKey, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), hosts, start, "in tls.crt"},
		"no PEM in the CA":        {with(good, AuthorityKey, []byte("text")), hosts, start, "no certificate in PEM form in ca.crt"},
		"key of another":          {with(good, PrivateKeyKey, other[PrivateKeyKey]), hosts, start, "does not match tls.crt"},
		"no key in PEM form":      {with(good, PrivateKeyKey, []byte("text")), hosts, start, "not an unencrypted private key"},
		"certificate as its key":  {with(good, PrivateKeyKey, good[CertificateKey]), hosts, start, "not an unencrypted private key"},
		"not valid yet":           {good, hosts, start.Add(-time.Hour), "not valid before 2026-01-02T02:59:05Z"},
		"expired":                 {good, hosts, start.Add(LeafLife), "expired at 2026-04-02T03:04:05Z"},
		"CA of another":           {with(good, AuthorityKey, other[AuthorityKey]), hosts, start, "no CA in ca.crt issued"},
		"only an intermediate CA": {issued(t, below, start), hosts, start, "has a ca.crt without the root CA: add the self-signed certificate of the root CA"},
		"the root CA of another":  {with(issued(t, below, start), AuthorityKey, join(below.files[AuthorityKey], other[AuthorityKey])), hosts, start, "without the root CA"},
		"expired CA":              {outliving(t, old, late), hosts, late, "of a CA that expired at 2026-01-02T04:04:05Z"},
		"for clients":             {forClients(t, authority), hosts, start, "extended key usage serverAuth"},
		"wrong name":              {good, []string{"orders.shop.svc", "orders.shop", "db.example.test"}, start, "without the DNS names orders.shop, db.example.test,"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			facts := Judge(c.files, c.hosts, c.now)
			if !strings.Contains(facts.Problem, c.says) {
				t.Errorf("got %q, want %q", facts.Problem, c.says)
			}
			if !strings.Contains(facts.Problem, ": ") {
				t.Errorf("%q has no remedy", facts.Problem)
			}
		})
	}
}

// subordinate is an intermediate CA, whose ca.crt lacks the root CA.
func subordinate(t *testing.T, root Authority) Authority {
	t.Helper()
	files := signed(t, root, &x509.Certificate{
		NotBefore: start, NotAfter: start.Add(LeafLife), Subject: pkix.Name{CommonName: "intermediate"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a, err := ParseAuthority(with(files, AuthorityKey, files[CertificateKey]))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func join(all ...[]byte) []byte { return bytes.Join(all, nil) }

// These are the verdicts of `openssl verify -CAfile ca.crt -untrusted tls.crt tls.crt`.
func TestAnIntermediateCAIsInEitherFileAndItsRootCAInCACrt(t *testing.T) {
	root := newCA(t, start)
	below := subordinate(t, root)
	files, middle, anchor := issued(t, below, start), below.files[CertificateKey], root.files[AuthorityKey]
	for name, c := range map[string]struct {
		files   Files
		problem bool
	}{
		"root CA in ca.crt, intermediate CA in tls.crt": {with(with(files, CertificateKey, join(files[CertificateKey], middle)), AuthorityKey, anchor), false},
		"both in ca.crt":                    {with(files, AuthorityKey, join(middle, anchor)), false},
		"intermediate CA in ca.crt":         {files, true},
		"intermediate CA in both":           {with(files, CertificateKey, join(files[CertificateKey], middle)), true},
		"intermediate CA in none":           {with(files, AuthorityKey, anchor), true},
		"root CA in tls.crt, not in ca.crt": {with(files, CertificateKey, join(files[CertificateKey], anchor)), true},
	} {
		t.Run(name, func(t *testing.T) {
			if problem := Judge(c.files, hosts[:3], start).Problem; (problem != "") != c.problem {
				t.Errorf("it %s", problem)
			}
			if err := verified(t, c.files); (err != nil) != c.problem {
				t.Errorf("a client with these roots: %v", err)
			}
		})
	}
}

// verified returns the error of a client in Go that has the ca.crt.
func verified(t *testing.T, files Files) error {
	t.Helper()
	chain, err := parse(files[CertificateKey])
	if err != nil {
		t.Fatal(err)
	}
	roots, err := Roots(files[AuthorityKey], start)
	if err != nil {
		t.Fatal(err)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{DNSName: hosts[1], Roots: roots, Intermediates: pool(chain[1:]), CurrentTime: start})
	return err
}

// outliving is a certificate that is valid longer than its CA.
func outliving(t *testing.T, a Authority, now time.Time) Files {
	t.Helper()
	return signed(t, a, &x509.Certificate{
		NotBefore: now.Add(-3 * time.Hour), NotAfter: now.Add(time.Hour), DNSNames: hosts, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

func forClients(t *testing.T, a Authority) Files {
	t.Helper()
	return signed(t, a, &x509.Certificate{
		NotBefore: start, NotAfter: start.Add(time.Hour), DNSNames: hosts, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func signed(t *testing.T, a Authority, template *x509.Certificate) Files {
	t.Helper()
	key, text, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	if template.SerialNumber, err = newSerial(); err != nil {
		t.Fatal(err)
	}
	leaf, err := sign(template, a.current, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return Files{CertificateKey: encode(leaf), PrivateKeyKey: text, AuthorityKey: encode(a.current)}
}

func TestACertificateOfAnRSAKeyIsAccepted(t *testing.T) {
	a := newCA(t, start)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template, err := newTemplate(start, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	template.DNSNames = hosts
	leaf, err := sign(template, a.current, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	files := Files{CertificateKey: encode(leaf), PrivateKeyKey: text, AuthorityKey: encode(a.current)}
	if problem := Judge(files, hosts[:3], start).Problem; problem != "" {
		t.Error(problem)
	}
}

func TestTheJudgementChangesWithTime(t *testing.T) {
	facts := CertificateFacts{NotBefore: start, NotAfter: start.Add(time.Hour)}
	for now, want := range map[time.Time]time.Time{
		start.Add(-time.Minute): start,
		start:                   start.Add(time.Hour),
		start.Add(time.Hour):    {},
	} {
		if got := facts.Changes(now); !got.Equal(want) {
			t.Errorf("at %s: %s, want %s", now, got, want)
		}
	}
}

// A client that knows only one of two CAs accepts certificates of both, while both are in use.
func TestARenewedAuthorityIsAcceptedByClientsOfThePreviousOne(t *testing.T) {
	before := newCA(t, start)
	later := RenewAt(start, start.Add(AuthorityLife))
	after, err := before.Renew(later)
	if err != nil {
		t.Fatal(err)
	}
	old, renewed := issued(t, before, later), issued(t, after, later)
	for name, files := range map[string]Files{
		"the new certificate, with the CA that it comes with":     renewed,
		"the new certificate, for a client with the previous CA":  with(renewed, AuthorityKey, before.Files()[AuthorityKey]),
		"the previous certificate, for a client with the new CAs": with(old, AuthorityKey, renewed[AuthorityKey]),
	} {
		if problem := Judge(files, hosts[:3], later).Problem; problem != "" {
			t.Errorf("%s: it %s", name, problem)
		}
	}
	if roots, _ := parse(renewed[AuthorityKey]); len(roots) != 2 {
		t.Errorf("ca.crt has %d certificates, want that of both CAs", len(roots))
	}
	if roots, _ := parse(issued(t, after, later.Add(LeafLife))[AuthorityKey]); len(roots) != 1 {
		t.Errorf("ca.crt still has %d certificates after the last certificate of the previous CA has expired", len(roots))
	}
}

func TestAnAuthorityIsReadFromItsSecret(t *testing.T) {
	first := newCA(t, start)
	second, err := first.Renew(start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]Authority{"first": first, "second": second} {
		read, err := ParseAuthority(a.Files())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files := issued(t, read, start.Add(time.Hour))
		facts, authority := Judge(files, hosts[:3], start.Add(time.Hour)), AuthorityFacts(a.Files())
		if facts.Problem != "" || facts.Issuer != authority.Issuer {
			t.Errorf("%s: it %s; issued by %s, want %s", name, facts.Problem, facts.Issuer, authority.Issuer)
		}
	}
	if facts := AuthorityFacts(issued(t, first, start)); facts.Problem == "" {
		t.Error("a certificate for servers counts as a CA")
	}
	if facts := AuthorityFacts(with(first.Files(), PrivateKeyKey, second.Files()[PrivateKeyKey])); facts.Problem == "" {
		t.Error("a CA without its key counts")
	}
}

func TestIdentityCoversCertificateAndAuthorityButNotTheKey(t *testing.T) {
	files := issued(t, newCA(t, start), start)
	for key, changes := range map[string]bool{CertificateKey: true, AuthorityKey: true, PrivateKeyKey: false} {
		if changed := Identity(with(files, key, []byte("other"))) != Identity(files); changed != changes {
			t.Errorf("%s changes the identity: %v, want %v", key, changed, changes)
		}
	}
}

// The text forms of all types that have a key hide it.
func TestNoTextFormContainsAKey(t *testing.T) {
	a := newCA(t, start)
	files := issued(t, a, start)
	for _, value := range []any{a, a.Files(), files, struct{ Files Files }{files}, []Files{files}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "PRIVATE") || !strings.Contains(text, "(hidden)") {
				t.Errorf("%s of %T prints its contents", format, value)
			}
		}
	}
}

func TestATLSClientVerifiesChainAndHost(t *testing.T) {
	now := time.Now()
	files := issued(t, newCA(t, now), now)
	pair, err := tls.X509KeyPair(files[CertificateKey], files[PrivateKeyKey])
	if err != nil {
		t.Fatal(err)
	}
	roots, err := Roots(files[AuthorityKey], now)
	if err != nil {
		t.Fatal(err)
	}
	for host, ok := range map[string]bool{"orders.shop.svc": true, "orders-3.orders-headless.shop.svc": true, "other.shop.svc": false} {
		client, server := net.Pipe()
		go func() {
			connection := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
			_, _ = io.Copy(io.Discard, connection)
		}()
		err := tls.Client(client, &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}).Handshake()
		if (err == nil) != ok {
			t.Errorf("%s: %v", host, err)
		}
		_ = client.Close()
	}
}

func TestTwoKeysAreNeverEqual(t *testing.T) {
	a := newCA(t, start)
	if bytes.Equal(issued(t, a, start)[PrivateKeyKey], issued(t, a, start)[PrivateKeyKey]) {
		t.Error("a renewal keeps the key")
	}
}
