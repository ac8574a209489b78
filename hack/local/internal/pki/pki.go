// Package pki creates the keys and certificates of one cluster.
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

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const validity = 365 * 24 * time.Hour

// Identity is the subject of a certificate.
type Identity struct {
	// Name is the name of the files, without extension.
	Name       string
	CommonName string
	Groups     []string
	// Hosts are the DNS names and addresses of a server.
	Hosts []string
	// FrontProxy certificates have a separate authority, as API aggregation requires.
	FrontProxy bool
}

// Folder is the folder of the files of one cluster.
type Folder string

// Certificate returns the path of an identity's certificate.
func (f Folder) Certificate(name string) string { return filepath.Join(string(f), name+".crt") }

// Key returns the path of an identity's private key.
func (f Folder) Key(name string) string { return filepath.Join(string(f), name+".key") }

// The authorities, and the key that signs the tokens of service accounts.
const (
	CA              = "ca"
	FrontProxyCA    = "front-proxy-ca"
	ServiceAccounts = "service-accounts"
)

// Ensure creates all files at once, or keeps the existing ones.
func (f Folder) Ensure(identities []Identity) error {
	if _, err := os.Stat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// After a crash only the temporary folder is incomplete, never the real one.
	unfinished := f + ".new"
	if err := errors.Join(os.RemoveAll(string(unfinished)), os.MkdirAll(string(unfinished), 0o700)); err != nil {
		return fmt.Errorf("create the folder for certificates: %w", err)
	}
	if err := unfinished.fill(identities); err != nil {
		return err
	}
	return os.Rename(string(unfinished), string(f))
}

func (f Folder) fill(identities []Identity) error {
	authority, err := f.newAuthority(CA)
	if err != nil {
		return err
	}
	frontProxy, err := f.newAuthority(FrontProxyCA)
	if err != nil {
		return err
	}
	for _, identity := range identities {
		signer := authority
		if identity.FrontProxy {
			signer = frontProxy
		}
		if err := signer.issue(f, identity); err != nil {
			return fmt.Errorf("create the certificate of %s: %w", identity.Name, err)
		}
	}
	_, err = f.newKey(ServiceAccounts)
	return err
}

func (f Folder) newKey(name string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create the key of %s: %w", name, err)
	}
	content, err := keyutil.MarshalPrivateKeyToPEM(key)
	return key, errors.Join(err, keyutil.WriteKey(f.Key(name), content))
}

func (f Folder) writeCertificate(name string, der []byte) error {
	return cert.WriteCert(f.Certificate(name), pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}))
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func (f Folder) newAuthority(name string) (*authority, error) {
	key, err := f.newKey(name)
	if err != nil {
		return nil, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "databasecluster-local-" + name}, key)
	if err != nil {
		return nil, fmt.Errorf("create the certificate of %s: %w", name, err)
	}
	return &authority{certificate, key}, f.writeCertificate(name, certificate.Raw)
}

func (a *authority) issue(folder Folder, identity Identity) error {
	key, err := folder.newKey(identity.Name)
	if err != nil {
		return err
	}
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: identity.CommonName, Organization: identity.Groups},
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     a.certificate.NotBefore.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range identity.Hosts {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	return folder.writeCertificate(identity.Name, der)
}
