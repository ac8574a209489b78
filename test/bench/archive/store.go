/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// bucket is the bucket of all contestants.
const bucket = "archives"

// The credentials of the S3 server, which only this machine reaches.
const (
	accessKey = "AKIABENCH"
	secretKey = "benchmark" //nolint:gosec // of a server that ends with the benchmark
)

// store is an S3 server with TLS, because pgBackRest uses no other. A bucket is a folder.
type store struct {
	root, port, keys string
	process          *process
}

func (b *bench) startStore() (*store, error) {
	s := &store{root: b.path("store"), keys: b.path("keys")}
	for _, folder := range []string{s.bucket(), s.keys} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("create a folder: %w", err)
		}
	}
	if err := s.writeKeys(); err != nil {
		return nil, err
	}
	var err error
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	s.process, err = b.start("store", []string{"ROOT_ACCESS_KEY=" + accessKey, "ROOT_SECRET_KEY=" + secretKey}, b.path("versitygw"),
		"--cert", filepath.Join(s.keys, "tls.crt"), "--key", filepath.Join(s.keys, "tls.key"),
		"--port", "127.0.0.1:"+s.port, "--quiet", "posix", s.root)
	if err != nil {
		return nil, err
	}
	return s, b.until("the S3 server listens", func() (bool, error) {
		connection, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			err = connection.Close()
		}
		return err == nil, nil
	})
}

// bucket is the folder of the bucket.
func (s *store) bucket() string { return filepath.Join(s.root, bucket) }

func (s *store) endpoint() string { return "https://localhost:" + s.port }

// access is how transfer reaches the store.
func (s *store) access() protocol.Store {
	return protocol.Store{Endpoint: s.endpoint(), Credentials: s.keys}
}

// writeKeys writes a certificate, and the files of the Secrets.
func (s *store) writeKeys() error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("create a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 7),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return fmt.Errorf("create a certificate: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("encode a key: %w", err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	for name, text := range map[string]string{
		protocol.AccessKeyFile: accessKey, protocol.SecretKeyFile: secretKey, protocol.AuthoritiesFile: certificate, "tls.crt": certificate,
		"tls.key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
		"password": "unused", "owner-password": "unused", "replication-password": "unused", "restapi-password": "unused",
	} {
		if err := os.WriteFile(filepath.Join(s.keys, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write a key: %w", err)
		}
	}
	return nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port, listener.Close()
}

// until waits until something is true.
func (b *bench) until(what string, is func() (bool, error)) error {
	for deadline := time.Now().Add(time.Hour); time.Now().Before(deadline); {
		if done, err := is(); done || err != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
	return fmt.Errorf("it is not true after an hour that %s", what)
}

// sizeOf is the size of all files in a folder.
func sizeOf(folder string) (bytes int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// cold writes a folder to the disk, and removes it from memory.
func cold(folder string) error {
	unix.Sync()
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path) //nolint:gosec // of the benchmark
		if err != nil {
			return err
		}
		defer file.Close()
		return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}
