// Package pki makes the keys and certificates of one cluster.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 365 * 24 * time.Hour

// Identity is whom a certificate speaks for.
type Identity struct {
	// Name is the name of the files, without extension.
	Name       string
	CommonName string
	Groups     []string
	// Hosts is what a server is called: DNS names and addresses.
	Hosts []string
	// FrontProxy certificates are signed by an authority of their own, as API aggregation wants.
	FrontProxy bool
}

// Folder is where the files of one cluster are.
type Folder string

// Certificate is the path of an identity's certificate.
func (f Folder) Certificate(name string) string { return filepath.Join(string(f), name+".crt") }

// Key is the path of an identity's private key.
func (f Folder) Key(name string) string { return filepath.Join(string(f), name+".key") }

// The authorities, and the pair that signs the tokens of service accounts.
const (
	CA              = "ca"
	FrontProxyCA    = "front-proxy-ca"
	ServiceAccounts = "service-accounts"
)

// Ensure makes all files at once, or keeps all that are there.
func (f Folder) Ensure(identities []Identity) error {
	if _, err := os.Stat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A crash leaves only the unfinished folder, never half of the real one.
	unfinished := f + ".new"
	if err := errors.Join(os.RemoveAll(string(unfinished)), os.MkdirAll(string(unfinished), 0o700)); err != nil {
		return fmt.Errorf("make the folder for certificates: %w", err)
	}
	if err := fill(unfinished, identities); err != nil {
		return err
	}
	return os.Rename(string(unfinished), string(f))
}

func fill(folder Folder, identities []Identity) error {
	authority, err := newAuthority(folder, CA)
	if err != nil {
		return err
	}
	frontProxy, err := newAuthority(folder, FrontProxyCA)
	if err != nil {
		return err
	}
	for _, identity := range identities {
		signer := authority
		if identity.FrontProxy {
			signer = frontProxy
		}
		if err := signer.issue(folder, identity); err != nil {
			return err
		}
	}
	return writeServiceAccountKeys(folder)
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(folder Folder, name string) (*authority, error) {
	template := newTemplate("databasecluster-local-"+name, nil)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	self := &authority{certificate: template}
	certificate, key, err := self.sign(folder, name, template)
	return &authority{certificate, key}, err
}

func (a *authority) issue(folder Folder, identity Identity) error {
	template := newTemplate(identity.CommonName, identity.Groups)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(identity.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range identity.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	_, _, err := a.sign(folder, identity.Name, template)
	return err
}

// sign makes a key, signs the certificate (an authority without a key signs itself) and writes both.
func (a *authority) sign(folder Folder, name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of %s: %w", name, err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("read back the certificate of %s: %w", name, err)
	}
	err = writePEM(folder.Certificate(name), "CERTIFICATE", der)
	return certificate, key, errors.Join(err, writeKey(folder.Key(name), key))
}

func newTemplate(commonName string, groups []string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName, Organization: groups},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
	}
}

func writeServiceAccountKeys(folder Folder) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of service accounts: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("write the key of service accounts: %w", err)
	}
	err = writePEM(folder.Certificate(ServiceAccounts), "PUBLIC KEY", public)
	return errors.Join(err, writeKey(folder.Key(ServiceAccounts), key))
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	content := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
