//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// tlsIn creates a cluster with TLS, and verifies each member by the connection Secret.
func tlsIn(mode dbv1.TLSMode) func(context.Context, *trial) (string, error) {
	return func(ctx context.Context, t *trial) (string, error) {
		t.number++
		template := t.template("tls" + strings.ToLower(string(mode)) + strconv.Itoa(t.number))
		template.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, Mode: mode}
		cluster, err := t.Run(ctx, template)
		if cluster == nil {
			return "", err
		}
		var seen, restored string
		var client *visitor
		if err == nil {
			seen, client, err = t.encrypted(ctx, cluster)
		}
		if err == nil {
			restored, err = t.plain(ctx, cluster, client)
		}
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, cluster.Conditions(ctx))
		}
		return seen + restored, t.remove(ctx, cluster)
	}
}

// plain restores a backup of a cluster with TLS into one without TLS, which has no certificates.
func (t *trial) plain(ctx context.Context, cluster *lab.Cluster, client *visitor) (string, error) {
	if noBackup(t) != "" || client == nil {
		return "", nil
	}
	rows, err := client.acknowledged(ctx)
	if err != nil {
		return "", err
	}
	backup, err := t.create(ctx, cluster.Name)
	if err != nil {
		return "", err
	}
	restored, _, seen, err := t.restoredFrom(ctx, dbv1.BackupSource{Name: backup.Name}, rows)
	if err == nil {
		err = t.remove(ctx, restored)
	}
	return "; a cluster without TLS that is restored from its backup is " + seen, err
}

// encrypted returns what it has seen, and the client, if there is one.
func (t *trial) encrypted(ctx context.Context, cluster *lab.Cluster) (string, *visitor, error) {
	if err := lab.Await(ctx, "the condition TLSReady", func() bool {
		ready := condition(ctx, cluster, dbv1.ConditionTLSReady)
		return ready != nil && ready.Status == "True"
	}); err != nil {
		return "", nil, err
	}
	versions, err := t.handshakes(ctx, cluster)
	if err != nil {
		return "", nil, err
	}
	seen := fmt.Sprintf("%d members have certificates that the connection Secret verifies (%s)", cluster.Members, versions)
	if noRows(t) != "" || t.client.WithoutTLS {
		return seen, nil, nil
	}
	visitor, err := t.visit(ctx, cluster)
	if err != nil {
		return "", nil, err
	}
	if err := visitor.awaitProgress(ctx); err != nil {
		return "", nil, err
	}
	rows, err := visitor.keeps(ctx)
	if err == nil {
		_, err = visitor.run(ctx, "", t.client.Connect)
	}
	return seen + "; a client writes with TLS" + rows, visitor, err
}

// handshakes connects to each member by its host name in the headless Service.
func (t *trial) handshakes(ctx context.Context, cluster *lab.Cluster) (string, error) {
	binding, err := t.binding(ctx, cluster)
	if err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(binding[engine.EntryCA]) {
		return "", errors.New("the connection Secret has no certificate in the key ca.crt")
	}
	pods, err := cluster.Pods(ctx)
	if err != nil {
		return "", err
	}
	var version string
	for i := range pods {
		address := net.JoinHostPort(pods[i].Status.PodIP, string(binding["port"]))
		host := pods[i].Name + "." + cluster.Name + "-headless." + t.Namespace + ".svc"
		if version, err = t.handshake(ctx, address, &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}); err != nil {
			return "", fmt.Errorf("%s: %w", host, err)
		}
	}
	return version, nil
}

// handshake verifies a member, after the bytes that its protocol sends before TLS.
func (t *trial) handshake(ctx context.Context, address string, settings *tls.Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = connection.Close() }()
	if preamble := t.engine.Spec.TLS.Preamble; preamble != nil {
		if err := exchange(connection, preamble.Request, preamble.Response); err != nil {
			return "", err
		}
	}
	secure := tls.Client(connection, settings)
	if err := secure.HandshakeContext(ctx); err != nil {
		return "", err
	}
	return tls.VersionName(secure.ConnectionState().Version), nil
}

// exchange sends bytes, and compares the answer. Both are in hexadecimal.
func exchange(connection net.Conn, request, response string) error {
	send, err := hex.DecodeString(request)
	want, problem := hex.DecodeString(response)
	if err := errors.Join(err, problem); err != nil {
		return err
	}
	if _, err := connection.Write(send); err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(connection, got); err != nil || string(got) != string(want) {
		return fmt.Errorf("the server answers %x to the preamble, want %x: %w", got, want, err)
	}
	return nil
}
