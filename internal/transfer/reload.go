/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// handshakeTime is the time limit of one connection to a member.
const handshakeTime = 10 * time.Second

// reloadRun is a run by which members load a certificate.
type reloadRun struct {
	*run
	*protocol.Reload
	// leaf is the certificate that members should serve, and roots verify it.
	leaf  []byte
	roots *x509.CertPool
}

// do reloads each member until it serves the certificate. The kubelet refreshes the files of a member some time after
// the Secret has changed, so one reload may be too early.
func (r *reloadRun) do(ctx context.Context) error {
	if err := r.read(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, context.DeadlineExceeded)
	defer cancel()
	for _, member := range r.Members {
		if err := r.member(ctx, member); err != nil {
			return err
		}
		r.log.Info("the member serves the certificate", "member", member)
	}
	return nil
}

// read reads the certificate and the CA of the Job.
func (r *reloadRun) read() error {
	leaf, err := os.ReadFile(filepath.Join(r.Folder, "tls.crt"))
	if err != nil {
		return failf(protocol.CertificateNotServed, "The certificate cannot be read: %v. Correct the Secret of spec.tls.", err)
	}
	authorities, err := os.ReadFile(filepath.Join(r.Folder, "ca.crt"))
	if err != nil {
		return failf(protocol.CertificateNotServed, "The CA cannot be read: %v. Correct the Secret of spec.tls.", err)
	}
	block, _ := pem.Decode(leaf)
	if r.roots, err = pki.Roots(authorities, time.Now()); err != nil || block == nil {
		return failf(protocol.CertificateNotServed, "The Secret of spec.tls has no certificate in tls.crt or ca.crt. Correct the Secret.")
	}
	r.leaf = block.Bytes
	return nil
}

// member reloads one member until it serves the certificate.
func (r *reloadRun) member(ctx context.Context, member string) error {
	var said error
	for ; said == nil || ctx.Err() == nil; pause(ctx, r.Interval) {
		_, err := r.output(ctx, r.Command, protocol.MaxOutputBytes, "DBC_MEMBER="+member)
		if err != nil && failureOf(err).exitCode().Final() { // a later attempt has the same result
			return err
		}
		if err == nil {
			err = r.served(ctx, member)
		}
		if err == nil {
			return nil
		}
		if !over(ctx) || said == nil { // the timeout cut off the last attempt, so its error is ignored
			said = err
			r.log.Info("the member does not serve the certificate yet", "member", member, "cause", r.withoutSecrets(err.Error()))
		}
	}
	if failureOf(said).exitCode() == protocol.ExitPrecondition { // the user must act
		return said
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return failf(protocol.CertificateNotServed, "Member %s does not serve the certificate after %s: %v", member, r.Timeout, said)
	}
	return verdict(ctx, said)
}

// over reports whether the time has ended. A connection with the same deadline may fail before the context is done.
func over(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(deadline)
}

// served connects to a member as clients do: it verifies the chain and the host name. It returns nil if the member
// serves the certificate.
func (r *reloadRun) served(ctx context.Context, member string) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	plain, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(member, strconv.Itoa(r.Port)))
	if err != nil {
		return fmt.Errorf("the member cannot be reached: %w", err)
	}
	defer plain.Close()
	limit, _ := ctx.Deadline()
	if err := errors.Join(plain.SetDeadline(limit), r.startTLS(plain)); err != nil {
		return err
	}
	client := tls.Client(plain, &tls.Config{ServerName: member, RootCAs: r.roots, MinVersion: tls.VersionTLS12})
	if err := client.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("the TLS handshake failed: %w", err)
	}
	if leaf := client.ConnectionState().PeerCertificates[0]; !bytes.Equal(leaf.Raw, r.leaf) {
		return fmt.Errorf("it serves another certificate, which is valid until %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// startTLS asks the server for TLS, where the protocol of the database begins without it.
func (r *reloadRun) startTLS(connection io.ReadWriter) error {
	if r.Request == "" {
		return nil
	}
	request, _ := hex.DecodeString(r.Request) // already validated
	want, _ := hex.DecodeString(r.Response)
	got := make([]byte, len(want))
	if _, err := connection.Write(request); err != nil {
		return fmt.Errorf("the member does not accept the request for TLS: %w", err)
	}
	if _, err := io.ReadFull(connection, got); err != nil {
		return fmt.Errorf("the member does not answer the request for TLS: %w", err)
	}
	if !bytes.Equal(got, want) {
		return errors.New("the member does not serve TLS")
	}
	return nil
}
