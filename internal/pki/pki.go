/*
SPDX-License-Identifier: Apache-2.0
*/

// Package pki issues the certificates of clusters, and judges those of others. Private keys never leave a Secret: no
// message, log or status has one.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Keys of a Secret of type kubernetes.io/tls, and the certificates of its CA.
const (
	CertificateKey = "tls.crt"
	PrivateKeyKey  = "tls.key"
	AuthorityKey   = "ca.crt"
	// ClientsKey is the key of the CAs of client certificates in the Secret of members. It is apart from ca.crt: another issuer of the
	// certificate of the members never replaces it.
	ClientsKey = "clients.crt"
)

const (
	// LeafLife is the life of a certificate, which is renewed after two thirds.
	LeafLife = 90 * 24 * time.Hour
	// AuthorityLife is the same for a CA.
	AuthorityLife = 10 * 365 * 24 * time.Hour
	// backdated tolerates clocks that are behind.
	backdated = 5 * time.Minute
)

// Files are the values of a Secret with a certificate. Their text form hides them.
type Files map[string][]byte

func (Files) String() string { return "(hidden)" }

// GoString hides the values from %#v.
func (Files) GoString() string { return "(hidden)" }

// RenewAt returns the time at which a certificate should be renewed.
func RenewAt(notBefore, notAfter time.Time) time.Time {
	return notBefore.Add(notAfter.Sub(notBefore) * 2 / 3)
}

// Identity identifies a certificate together with its CA. Both are public.
func Identity(files Files) string {
	sum := sha256.New()
	for _, key := range []string{CertificateKey, AuthorityKey} {
		fmt.Fprintf(sum, "%d\n%s", len(files[key]), files[key])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// newKey creates a private key. Go ignores any other source of random numbers for keys.
func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("create a private key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a private key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// newSerial returns a serial number of 120 bits, at random.
func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("create a serial number: %w", err)
	}
	return serial, nil
}

// parse returns the certificates of a PEM text.
func parse(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, errors.New("it contains no certificate")
	}
	return all, nil
}

func encode(all ...*x509.Certificate) []byte {
	var text []byte
	for _, one := range all {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw})...)
	}
	return text
}
