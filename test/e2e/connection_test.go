//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// sample returns a file of the gallery with the local images.
func (w world) sample(file string) string {
	w.Helper()
	text, err := os.ReadFile(galleryFolder + "/" + file + ".yaml")
	if err != nil {
		w.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "docker.io/library/postgres:17", postgresImage)
}

// secret returns a value of a Secret.
func (w world) secret(name, key string) string {
	w.Helper()
	return w.do("get", "secret", name, "-o", "go-template={{index .data \""+key+"\" | base64decode}}")
}

// connect waits until kube-proxy knows the ready member, which may take a second, and runs a statement at a URI.
const connect = `for attempt in $(seq 20); do pg_isready -qh "$(cat /binding/host)" && break; sleep 0.5; done; exec psql -XqtAc "$0" "$1"`

// asClient runs psql in a pod of its own, with nothing but a URI, and returns its output.
func (w world) asClient(name, uri, statement string) (string, error) {
	w.Helper()
	overrides := fmt.Sprintf(`{"spec":{"automountServiceAccountToken":false,"securityContext":{"runAsNonRoot":true,"runAsUser":999,"seccompProfile":{"type":"RuntimeDefault"}},
		"volumes":[{"name":"binding","secret":{"secretName":"orders-connection"}}],
		"containers":[{"name":%q,"image":%q,"command":["sh","-c",%q,%q,%q],"stdin":false,
		"env":[{"name":"PGSSLROOTCERT","value":"/binding/ca.crt"}],"volumeMounts":[{"name":"binding","mountPath":"/binding"}],
		"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`, name, postgresImage, connect, statement, uri)
	w.do("run", name, "--image="+postgresImage, "--restart=Never", "--overrides="+overrides)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		switch w.of("pod/"+name, "{.status.phase}") {
		case "Succeeded":
			return w.do("logs", name), nil
		case "Failed":
			return w.do("logs", name), errors.New("psql failed")
		}
	}
	return "", errors.New("psql did not end")
}

// An eight-line manifest and an application, without a typed password.
func TestAnApplicationConnectsWithNothingButTheConnectionSecret(t *testing.T) {
	w, start := newWorld(t), time.Now()
	w.apply(w.sample("postgresql"))
	w.apply(w.sample("application"))
	w.do("wait", "--for=condition=Available", "deployment/web", "--timeout="+patience.String())
	w.Logf("from the empty namespace to a connected application: %.1f s", time.Since(start).Seconds())

	w.await("orders", "Ready")
	w.must(w.of("databasecluster/orders", "{.status.binding.name}") == "orders-connection", "status.binding: %s", w.of("databasecluster/orders", "{.status.binding}"))
	host := "orders." + w.namespace + ".svc"
	endpoints := w.of("databasecluster/orders", "{range .status.endpoints[*]}{.name} {.host} {.port} {.role};{end}")
	w.must(endpoints == "orders "+host+" 5432 Primary;", "status.endpoints: %s", endpoints)
	for key, want := range map[string]string{
		"type": "postgresql", "provider": "postgresql-single-v1", "host": host, "port": "5432", "username": "app", "database": "app",
		"password": w.secret("orders-credentials", "owner-password"),
		"pgpass":   host + ":5432:app:app:" + w.secret("orders-credentials", "owner-password"),
	} {
		got := w.secret("orders-connection", key)
		w.must(got == want, "%s of the connection Secret is %q, want %q", key, got, want)
	}
	kind := w.of("secret/orders-connection", "{.type}")
	w.must(kind == "servicebinding.io/postgresql", "the type of the Secret is %s", kind)

	version := w.of("databasecluster/orders", "{.status.version}")
	reported := w.do("exec", "orders-0", "-c", "database", "--", "psql", "-XqtAc", "SHOW server_version", "-U", "postgres")
	w.must(version != "" && strings.HasPrefix(reported, version), "status.version is %q, and the server reports %q", version, reported)

	uri := w.secret("orders-connection", "uri")
	rights, err := w.asClient("rights", uri, "SELECT current_user, rolsuper, ssl FROM pg_roles, pg_stat_ssl WHERE rolname = current_user AND pid = pg_backend_pid()")
	w.must(err == nil && rights == "app|f|t", "the application is %q: %v", rights, err)
	plain, err := w.asClient("plain", strings.ReplaceAll(uri, "sslmode=verify-full", "sslmode=disable"), "SELECT 1")
	w.must(err != nil, "a connection without TLS gives %q", plain)
	other, err := w.asClient("other", strings.ReplaceAll(uri, host, w.of("service/orders", "{.spec.clusterIP}")), "SELECT 1")
	w.must(err != nil && strings.Contains(other, "does not match host name"), "another host name gives %q", other)
}

// A retained volume is lost data without its password, and a password without a volume is litter.
func TestGeneratedCredentialsShareTheFateOfTheVolumes(t *testing.T) {
	w := newWorld(t)
	w.apply(w.sample("postgresql"))
	w.await("orders", "Ready")
	uri := w.secret("orders-connection", "uri")
	text, err := w.asClient("writer", uri, "CREATE TABLE kept AS SELECT 42 AS answer")
	w.must(err == nil, "write: %v: %s", err, text)

	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.do("wait", "--for=delete", "secret/orders-connection", "--timeout="+patience.String())
	w.do("get", "secret", "orders-credentials")
	w.apply(w.sample("postgresql"))
	w.await("orders", "Ready")
	w.must(w.secret("orders-connection", "uri") == uri, "the connection of the new cluster is not the previous one")
	text, err = w.asClient("reader", uri, "SELECT answer FROM kept")
	w.must(err == nil && text == "42", "the previous credentials give %q: %v", text, err)

	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"deletion":{"volumes":"Delete"}}}`)
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.do("wait", "--for=delete", "secret/orders-connection", "--timeout="+patience.String())
	left := w.do("get", "secrets,persistentvolumeclaims", "-o", "name")
	w.must(left == "", "left after the deletion: %s", left)
}

// The members apply what the Secret has, after any change of it.
func TestADeletedOrEditedSecretIsAppliedByARestart(t *testing.T) {
	w := newWorld(t)
	w.apply(w.sample("postgresql"))
	w.await("orders", "Ready")
	before := w.secret("orders-connection", "uri")
	w.do("delete", "secret", "orders-credentials")
	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/refresh=1")
	w.eventually("MemberRestarted", "get", "events", "-o", "jsonpath={.items[*].reason}")
	w.await("orders", "Ready")
	after := w.secret("orders-connection", "uri")
	w.must(after != before, "the connection Secret still has the deleted password")
	text, err := w.asClient("new", after, "SELECT 1")
	w.must(err == nil && text == "1", "the new password gives %q: %v", text, err)
	text, err = w.asClient("old", before, "SELECT 1")
	w.must(err != nil && strings.Contains(text, "password authentication failed"), "the deleted password gives %q: %v", text, err)
}
