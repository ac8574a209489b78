/*
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"time"
)

// Authority is the CA of a cluster. Its text form hides the key.
type Authority struct {
	// current signs certificates.
	current *x509.Certificate
	key     crypto.Signer
	// cross is the current CA, signed by the previous one: clients that know only the previous CA accept new
	// certificates. Nil for the first CA.
	cross *x509.Certificate
	// previous is the CA before the current one; nil for the first CA.
	previous *x509.Certificate
	files    Files
}

func (Authority) String() string { return "(hidden)" }

// GoString hides the key from %#v.
func (Authority) GoString() string { return "(hidden)" }

// Files returns the contents of the Secret of the CA.
func (a Authority) Files() Files { return a.files }

// NewAuthority creates a CA.
func NewAuthority(name string, now time.Time) (Authority, error) {
	return newAuthority(name, now, nil)
}

// Renew creates the next CA, with a new key. Clients that know only the previous CA accept its certificates.
func (a Authority) Renew(now time.Time) (Authority, error) {
	return newAuthority(a.current.Subject.CommonName, now, &a)
}

func newAuthority(name string, now time.Time, before *Authority) (Authority, error) {
	key, keyText, err := newKey()
	if err != nil {
		return Authority{}, err
	}
	template, err := newTemplate(now, AuthorityLife)
	if err != nil {
		return Authority{}, err
	}
	// Each CA has its own subject, so that clients do not confuse two CAs.
	template.Subject = pkix.Name{CommonName: name, SerialNumber: template.SerialNumber.Text(16)}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	a := Authority{key: key}
	if a.current, err = sign(template, template, key.Public(), key); err != nil {
		return Authority{}, err
	}
	chain, roots := encode(a.current), encode(a.current)
	if before != nil {
		crossed := *template
		if crossed.SerialNumber, err = newSerial(); err != nil {
			return Authority{}, err
		}
		crossed.NotAfter = before.current.NotAfter
		if a.cross, err = sign(&crossed, before.current, key.Public(), before.key); err != nil {
			return Authority{}, err
		}
		a.previous = before.current
		chain, roots = encode(a.current, a.cross), encode(a.current, a.previous)
	}
	a.files = Files{CertificateKey: chain, PrivateKeyKey: keyText, AuthorityKey: roots}
	return a, nil
}

// ParseAuthority reads the Secret of a CA.
func ParseAuthority(files Files) (Authority, error) {
	pair, err := tls.X509KeyPair(files[CertificateKey], files[PrivateKeyKey])
	if err != nil {
		return Authority{}, errors.New("the key and the certificate of the CA do not match, or cannot be read")
	}
	signer, is := pair.PrivateKey.(crypto.Signer)
	chain, err := parse(files[CertificateKey])
	if err != nil || !is || !chain[0].IsCA {
		return Authority{}, errors.New("the certificate of the CA is not the certificate of a CA")
	}
	roots, err := parse(files[AuthorityKey])
	if err != nil {
		return Authority{}, errors.New("ca.crt of the CA cannot be read")
	}
	a := Authority{current: chain[0], key: signer, files: files}
	if len(chain) > 1 && len(roots) > 1 {
		a.cross, a.previous = chain[1], roots[1]
	}
	return a, nil
}

// Issue creates a certificate for one or more host names, with a new key.
func (a Authority) Issue(hosts []string, now time.Time) (Files, error) {
	return a.issue(now, func(template *x509.Certificate) {
		template.Subject, template.DNSNames = pkix.Name{CommonName: hosts[0]}, hosts
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
}

// IssueClient creates a certificate for a user of the database, with a new key. It is for no server, and the certificates of servers are
// for no client: their common names may be equal.
func (a Authority) IssueClient(name string, now time.Time) (Files, error) {
	return a.issue(now, func(template *x509.Certificate) {
		template.Subject = pkix.Name{CommonName: name}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
}

func (a Authority) issue(now time.Time, complete func(*x509.Certificate)) (Files, error) {
	key, keyText, err := newKey()
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(now, LeafLife)
	if err != nil {
		return nil, err
	}
	template.NotAfter = earlier(template.NotAfter, a.current.NotAfter)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	complete(template)
	leaf, err := sign(template, a.current, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	chain, roots := encode(leaf), encode(a.current)
	if a.overlaps(now) {
		chain, roots = encode(leaf, a.cross), encode(a.current, a.previous)
	}
	return Files{CertificateKey: chain, PrivateKeyKey: keyText, AuthorityKey: roots}, nil
}

// overlaps reports whether certificates of the previous CA may still be in use.
func (a Authority) overlaps(now time.Time) bool {
	return a.cross != nil && now.Before(earlier(a.current.NotBefore.Add(LeafLife), a.previous.NotAfter))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func newTemplate(now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	begin := now.UTC().Truncate(time.Second)
	return &x509.Certificate{SerialNumber: serial, NotBefore: begin.Add(-backdated), NotAfter: begin.Add(life)}, nil
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}
