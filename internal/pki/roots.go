/*
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"bytes"
	"crypto/x509"
	"time"
)

// Roots returns the certificates of a ca.crt at which the chain of a server may end. Go accepts each certificate of the pool, so
// the pool has an intermediate CA only if ca.crt has its root CA, too.
func Roots(text []byte, now time.Time) (*x509.CertPool, error) {
	authorities, err := parse(text)
	if err != nil {
		return nil, err
	}
	roots, intermediates := split(authorities)
	accepted := pool(roots)
	options := x509.VerifyOptions{
		Roots: pool(roots), Intermediates: pool(intermediates), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	for _, one := range intermediates {
		if _, err := one.Verify(options); err == nil {
			accepted.AddCert(one)
		}
	}
	return accepted, nil
}

// split separates the root CAs of a ca.crt from other certificates. Go accepts each of them as the end of a chain, but OpenSSL
// accepts only root CAs.
func split(authorities []*x509.Certificate) (roots, intermediates []*x509.Certificate) {
	for _, one := range authorities {
		if selfSigned(one) {
			roots = append(roots, one)
		} else {
			intermediates = append(intermediates, one)
		}
	}
	return roots, intermediates
}

// selfSigned decides by the names and key identifiers, as OpenSSL does.
func selfSigned(one *x509.Certificate) bool {
	return bytes.Equal(one.RawSubject, one.RawIssuer) &&
		(len(one.AuthorityKeyId) == 0 || len(one.SubjectKeyId) == 0 || bytes.Equal(one.AuthorityKeyId, one.SubjectKeyId))
}

func pool(all []*x509.Certificate) *x509.CertPool {
	certificates := x509.NewCertPool()
	for _, one := range all {
		certificates.AddCert(one)
	}
	return certificates
}
