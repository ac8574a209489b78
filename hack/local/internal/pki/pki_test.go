package pki

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var identities = []Identity{
	{Name: "server", CommonName: "local-server", Hosts: []string{"localhost", "127.0.0.1"}},
	{Name: "admin", CommonName: "local-admin", Groups: []string{"system:masters"}},
	{Name: "proxy", CommonName: "front-proxy", FrontProxy: true},
}

func made(t *testing.T) Folder {
	t.Helper()
	folder := Folder(filepath.Join(t.TempDir(), "pki"))
	if err := folder.Ensure(identities); err != nil {
		t.Fatal(err)
	}
	return folder
}

func (f Folder) load(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(f.Certificate(name))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func (f Folder) verify(t *testing.T, name, authority, host string, usage x509.ExtKeyUsage) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(f.load(t, authority))
	_, err := f.load(t, name).Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestAServerIsTrustedUnderEachOfItsNames(t *testing.T) {
	folder := made(t)
	for _, host := range []string{"localhost", "127.0.0.1"} {
		if err := folder.verify(t, "server", CA, host, x509.ExtKeyUsageServerAuth); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if folder.verify(t, "server", CA, "elsewhere", x509.ExtKeyUsageServerAuth) == nil {
		t.Error("it is trusted under another name too")
	}
}

func TestAClientIsNoServer(t *testing.T) {
	folder := made(t)
	if err := folder.verify(t, "admin", CA, "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Error(err)
	}
	if folder.verify(t, "admin", CA, "", x509.ExtKeyUsageServerAuth) == nil {
		t.Error("a client's certificate passes for a server's")
	}
	if subject := folder.load(t, "admin").Subject; subject.CommonName != "local-admin" || !slices.Equal(subject.Organization, []string{"system:masters"}) {
		t.Errorf("it speaks for %v", subject)
	}
}

func TestAFrontProxyIsNotTrustedAsAUser(t *testing.T) {
	folder := made(t)
	if err := folder.verify(t, "proxy", FrontProxyCA, "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Error(err)
	}
	if folder.verify(t, "proxy", CA, "", x509.ExtKeyUsageClientAuth) == nil {
		t.Error("the authority of users signed it")
	}
}

func TestKeysThatAreThereAreKept(t *testing.T) {
	folder := made(t)
	before := folder.load(t, CA).SerialNumber
	if err := folder.Ensure(identities); err != nil {
		t.Fatal(err)
	}
	if folder.load(t, CA).SerialNumber.Cmp(before) != 0 {
		t.Error("a second Ensure made another authority")
	}
}

func TestKeysAreForTheirOwnerAlone(t *testing.T) {
	folder := made(t)
	paths, err := filepath.Glob(filepath.Join(string(folder), "*.key"))
	if err != nil || len(paths) != len(identities)+3 {
		t.Fatalf("keys %v, %v", paths, err)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestAKubeconfigEmbedsItsCertificates(t *testing.T) {
	folder := made(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := folder.WriteKubeconfig(path, "https://127.0.0.1:1", "admin"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(content), "server: https://127.0.0.1:1") || strings.Contains(string(content), string(folder)) {
		t.Errorf("%v\n%s", err, content)
	}
}
