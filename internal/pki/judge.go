/*
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CertificateFacts are the public facts of a Secret with a certificate.
type CertificateFacts struct {
	// Problem is why members cannot serve the certificate, or clients cannot verify it, and the remedy. It continues
	// a sentence that names the Secret; "" for a valid certificate.
	Problem string
	// NotBefore and NotAfter are when the certificate and all its CAs are valid. They are zero if it cannot be read.
	NotBefore, NotAfter time.Time
	// Identity identifies the certificate; "" if a key of the Secret is missing.
	Identity string
	// Issuer identifies the key that signed the certificate.
	Issuer string
	// Names are the DNS names of the certificate.
	Names []string
	// CA are the certificates by which clients verify it, in PEM form.
	CA string
}

// Changes returns the time at which the judgment changes; the zero time for never.
func (f CertificateFacts) Changes(now time.Time) time.Time {
	for _, at := range []time.Time{f.NotBefore, f.NotAfter} {
		if at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// Judge returns the facts of a certificate for servers at a time. Clients connect to the hosts.
func Judge(files Files, hosts []string, now time.Time) CertificateFacts {
	return judge(files, now, x509.ExtKeyUsageServerAuth, func(leaf *x509.Certificate) string { return lacking(leaf, hosts) })
}

// JudgeClient returns the facts of a certificate for a user of the database at a time.
func JudgeClient(files Files, name string, now time.Time) CertificateFacts {
	return judge(files, now, x509.ExtKeyUsageClientAuth, func(leaf *x509.Certificate) string { return another(leaf, name) })
}

func judge(files Files, now time.Time, usage x509.ExtKeyUsage, named func(*x509.Certificate) string) CertificateFacts {
	if text := missing(files); text != "" {
		return CertificateFacts{Problem: text}
	}
	facts := CertificateFacts{Identity: Identity(files)}
	chain, err := parse(files[CertificateKey])
	if err != nil {
		facts.Problem = "has no certificate in PEM form in tls.crt: replace it"
		return facts
	}
	roots, err := parse(files[AuthorityKey])
	if err != nil {
		facts.Problem = "has no certificate in PEM form in ca.crt: add the certificate of the CA"
		return facts
	}
	leaf := chain[0]
	facts.NotBefore, facts.NotAfter, facts.Issuer = leaf.NotBefore, leaf.NotAfter, hex.EncodeToString(leaf.AuthorityKeyId)
	facts.Names, facts.CA = leaf.DNSNames, string(files[AuthorityKey])
	facts.Problem = firstText(
		func() string { return mismatch(files) },
		func() string { return untimely(leaf, now) },
		func() (text string) {
			text, facts.NotAfter = verify(chain, roots, now, usage)
			return text
		},
		func() string { return named(leaf) },
	)
	return facts
}

// AuthorityFacts returns the facts of the Secret of a CA.
func AuthorityFacts(files Files) CertificateFacts {
	a, err := ParseAuthority(files)
	if err != nil {
		return CertificateFacts{Problem: err.Error()}
	}
	return CertificateFacts{
		NotBefore: a.current.NotBefore, NotAfter: a.current.NotAfter,
		Identity: Identity(files), Issuer: hex.EncodeToString(a.current.SubjectKeyId), CA: string(files[AuthorityKey]),
	}
}

func firstText(all ...func() string) string {
	for _, one := range all {
		if text := one(); text != "" {
			return text
		}
	}
	return ""
}

func missing(files Files) string {
	var names []string
	for _, key := range []string{CertificateKey, PrivateKeyKey, AuthorityKey} {
		if len(files[key]) == 0 {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("has no %s: add it to the Secret", strings.Join(names, ", "))
}

// mismatch never quotes the key, nor an error about it.
func mismatch(files Files) string {
	_, err := tls.X509KeyPair(files[CertificateKey], files[PrivateKeyKey])
	switch {
	case err == nil:
		return ""
	case strings.Contains(err.Error(), "does not match"):
		return "has a tls.key that does not match tls.crt: replace both with the key and the certificate of one request"
	default:
		return "has a tls.key that is not an unencrypted private key in PEM form: replace it"
	}
}

func untimely(leaf *x509.Certificate, now time.Time) string {
	switch {
	case now.Before(leaf.NotBefore):
		return fmt.Sprintf("has a certificate that is not valid before %s: replace it, or correct the clocks", stamp(leaf.NotBefore))
	case !now.Before(leaf.NotAfter):
		return fmt.Sprintf("has a certificate that expired at %s: renew it", stamp(leaf.NotAfter))
	default:
		return ""
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// verify checks the chain as clients do, and returns when it expires.
func verify(chain, authorities []*x509.Certificate, now time.Time, usage x509.ExtKeyUsage) (text string, notAfter time.Time) {
	roots, intermediates := split(authorities)
	options := x509.VerifyOptions{
		Roots: pool(roots), Intermediates: pool(slices.Concat(chain[1:], intermediates)), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{usage},
	}
	chains, err := chain[0].Verify(options)
	if err == nil {
		// The chain that is valid for the longest time counts: clients find it, too.
		return "", slices.MaxFunc(ends(chains), time.Time.Compare)
	}
	options.Roots = pool(authorities)
	if _, rootless := chain[0].Verify(options); rootless == nil {
		return "has a ca.crt without the root CA: add the self-signed certificate of the root CA to ca.crt", chain[0].NotAfter
	}
	if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is && invalid.Reason == x509.IncompatibleUsage {
		return unusable(usage), chain[0].NotAfter
	}
	return refusal(slices.Concat(chain[1:], authorities), now), chain[0].NotAfter
}

// unusable describes a certificate for another purpose.
func unusable(usage x509.ExtKeyUsage) string {
	if usage == x509.ExtKeyUsageClientAuth {
		return "has a certificate that is not for clients: issue it with the extended key usage clientAuth"
	}
	return "has a certificate that is not for servers: issue it with the extended key usage serverAuth"
}

// refusal describes why no chain is valid.
func refusal(authorities []*x509.Certificate, now time.Time) string {
	if at, is := expired(authorities, now); is {
		return fmt.Sprintf("has a certificate of a CA that expired at %s: issue a new certificate with a valid CA", stamp(at))
	}
	return "has a certificate that no CA in ca.crt issued: add that CA to ca.crt, and intermediate certificates to tls.crt"
}

// ends returns when each chain expires.
func ends(chains [][]*x509.Certificate) []time.Time {
	all := make([]time.Time, 0, len(chains))
	for _, chain := range chains {
		end := chain[0].NotAfter
		for _, one := range chain {
			end = earlier(end, one.NotAfter)
		}
		all = append(all, end)
	}
	return all
}

func expired(all []*x509.Certificate, now time.Time) (time.Time, bool) {
	for _, one := range all {
		if !now.Before(one.NotAfter) {
			return one.NotAfter, true
		}
	}
	return time.Time{}, false
}

// lacking reports host names that the certificate is not valid for.
func lacking(leaf *x509.Certificate, hosts []string) string {
	var names []string
	for _, host := range hosts {
		if leaf.VerifyHostname(host) != nil {
			names = append(names, host)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("has a certificate without the DNS names %s, to which clients and Jobs connect: issue it with these names",
		strings.Join(names, ", "))
}

// another reports a certificate of another user.
func another(leaf *x509.Certificate, name string) string {
	if leaf.Subject.CommonName == name {
		return ""
	}
	return fmt.Sprintf("has a certificate for the user %q: issue it for the user %q", leaf.Subject.CommonName, name)
}
