//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const encrypted = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: NAME}
spec:
  engine: ENGINE
  image: IMAGE
  storage: {size: 1Gi}
  tls: {selfSigned: {}}
`

// encryptedClient is a pod of an application. It has the password and the CA of a cluster, and no key.
const encryptedClient = `
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: client
    image: IMAGE
    command: [sleep, infinity]
    env:
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: CLUSTER-credentials, key: password}}}
    - {name: HOST, value: CLUSTER.NAMESPACE.svc}
    - {name: PGUSER, value: postgres}
    - {name: PGDATABASE, value: postgres}
    - {name: PGPASSWORD, value: $(PASSWORD)}
    - {name: REDISCLI_AUTH, value: $(PASSWORD)}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: ca, mountPath: /ca}]
  volumes:
  - {name: ca, secret: {secretName: CLUSTER-tls, items: [{key: ca.crt, path: ca.crt}]}}
`

func (w world) encrypted(name, engine, image string) {
	w.Helper()
	start := time.Now()
	w.apply(strings.NewReplacer("NAME", name, "ENGINE", engine, "IMAGE", image).Replace(encrypted))
	w.await(name, "Available")
	w.await(name, "TLSReady")
	w.Logf("%s serves a certificate after %.1f s", name, time.Since(start).Seconds())
}

// verifyingClient starts a pod and returns a function that runs a script in it.
func (w world) verifyingClient(name, cluster, image string) func(script string) (string, error) {
	w.Helper()
	w.apply(strings.NewReplacer("NAMESPACE", w.namespace, "NAME", name, "CLUSTER", cluster, "IMAGE", image).Replace(encryptedClient))
	w.do("wait", "--for=condition=Ready", "pod/"+name, "--timeout="+patience.String())
	return func(script string) (string, error) {
		return run(w.Context(), "", "-n", w.namespace, "exec", name, "--", "sh", "-c", script)
	}
}

// says runs a script that must print a text, whatever its exit code is.
func (w world) says(client func(string) (string, error), script, want string) {
	w.Helper()
	if text, err := client(script); !strings.Contains(text, want) {
		w.Errorf("%s prints %q (%v), want %q", script, text, err, want)
	}
}

// presented connects as a client that knows the CA in a Secret, and returns the serial number of the certificate. It
// verifies the chain and a host name. PostgreSQL needs a request before the handshake.
func (w world) presented(cluster, host, request string) (string, error) {
	w.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(w.secret(cluster+"-tls", "ca.crt")))
	address := w.of("service/"+cluster, "{.spec.clusterIP}:{.spec.ports[0].port}")
	plain, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(w.Context(), "tcp", address)
	if err != nil {
		return "", err
	}
	defer plain.Close()
	if request != "" {
		if _, err := io.WriteString(plain, request); err != nil {
			return "", err
		}
		if _, err := io.ReadFull(plain, make([]byte, 1)); err != nil {
			return "", err
		}
	}
	client := tls.Client(plain, &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err := client.HandshakeContext(w.Context()); err != nil {
		return "", err
	}
	return client.ConnectionState().PeerCertificates[0].SerialNumber.Text(16), nil
}

// renew requests a renewal, and returns when all members serve the renewed certificate.
func (w world) renew(cluster string) {
	w.Helper()
	before, start := w.of("databasecluster/"+cluster, "{.status.tls.served}"), time.Now()
	pods := w.do("get", "pods", "-l", "app.kubernetes.io/instance="+cluster+",app.kubernetes.io/component=database", "-o", restarts)
	w.do("annotate", "databasecluster", cluster, "database.dbcluster.io/renew-certificate=now")
	for w.of("databasecluster/"+cluster, "{.status.tls.served}") == before {
		if time.Since(start) > patience {
			w.Fatalf("no member serves the renewed certificate: %s", w.of("databasecluster/"+cluster, "{.status}"))
		}
		time.Sleep(time.Second)
	}
	w.await(cluster, "TLSReady")
	w.Logf("%s serves a renewed certificate after %.1f s", cluster, time.Since(start).Seconds())
	after := w.do("get", "pods", "-l", "app.kubernetes.io/instance="+cluster+",app.kubernetes.io/component=database", "-o", restarts)
	w.must(pods == after, "the renewal restarted members: %s, before %s", after, pods)
}

const restarts = `jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount};{end}`

// A client that verifies the chain and the host name writes all the time, with new connections and with one that stays.
func TestPostgreSQLRenewsItsCertificateUnderWritesWithoutARestart(t *testing.T) {
	onLocalNode(t, "it connects to the address of a Service")
	w := newWorld(t)
	w.encrypted("orders", "postgresql-single-v1", postgresImage)
	client := w.verifyingClient("web", "orders", postgresImage)
	const verified = `export PGHOST="$HOST" PGSSLMODE=verify-full PGSSLROOTCERT=/ca/ca.crt; `
	const startTLS = "\x00\x00\x00\x08\x04\xd2\x16\x2f"

	w.says(client, verified+`psql -Xqtc "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"`, "TLSv1.3")
	for _, host := range []string{"orders", "orders." + w.namespace, "orders-0.orders-headless", "orders-0.orders-headless." + w.namespace + ".svc", "orders." + w.namespace + ".svc.cluster.local"} {
		w.says(client, verified+`PGHOST=`+host+` psql -Xqtc "SELECT 'by ' || 'name'"`, "by name")
	}
	w.says(client, verified+`psql -Xqc "SELECT 1" "host=elsewhere.example hostaddr=$(getent hosts "$HOST" | cut -d ' ' -f 1)"`, `does not match host name "elsewhere.example"`)
	w.says(client, verified+`PGSSLMODE=disable psql -Xqc "SELECT 1"`, "no encryption")
	w.says(client, `grep -q 'PRIVATE KEY' -r /ca && echo key; ls /ca`, "ca.crt")

	first, err := w.presented("orders", "orders."+w.namespace+".svc", startTLS)
	w.must(err == nil, "a client in Go: %v", err)
	w.says(client, verified+`psql -Xqc "CREATE TABLE writes (kind text)" && {
		(while psql -Xqc "INSERT INTO writes VALUES ('new')" || echo new >> /tmp/errors; do :; done) > /tmp/new 2>&1 &
		(printf '%s\n' "INSERT INTO writes VALUES ('long')" '\watch 0.1' | psql -Xq -v ON_ERROR_STOP=1 || :; echo long >> /tmp/errors) > /tmp/long 2>&1 &
		echo started; }`, "started")
	w.renew("orders")
	second, err := w.presented("orders", "orders."+w.namespace+".svc", startTLS)
	w.must(err == nil && first != second, "a client in Go sees %s, then %s: %v", first, second, err)

	errors, _ := client("cat /tmp/errors 2> /dev/null || true")
	counts, _ := client(verified + `psql -Xqtc "SELECT kind, count(*) FROM writes GROUP BY kind ORDER BY kind"`)
	tail, _ := client("tail -n 3 /tmp/new /tmp/long")
	w.Logf("writes during the renewal: %s; errors: %q", strings.Join(strings.Fields(counts), " "), errors)
	w.must(errors == "" && strings.Contains(counts, "new") && strings.Contains(counts, "long"), "errors: %q, writes %q\n%s", errors, counts, tail)
}

func TestRedisRenewsItsCertificateUnderWritesWithoutARestart(t *testing.T) {
	onLocalNode(t, "it connects to the address of a Service")
	w := newWorld(t)
	redis := w.needs(redisImage)
	w.encrypted("cache", "redis-single-v1", redis)
	client := w.verifyingClient("web", "cache", redis)
	const verified = `ask() { redis-cli --tls --cacert /ca/ca.crt --sni "$HOST" -h "$HOST" "$@"; }; `

	w.says(client, verified+"ask ping", "PONG")
	w.says(client, `redis-cli --tls --cacert /etc/hostname -h "$HOST" ping`, "Invalid")
	w.says(client, `timeout 5 redis-cli -h "$HOST" ping || echo refused`, "refused")
	first, err := w.presented("cache", "cache."+w.namespace+".svc", "")
	w.must(err == nil, "a client in Go: %v", err)
	_, err = w.presented("cache", "elsewhere.example", "")
	w.must(err != nil && strings.Contains(err.Error(), "not elsewhere.example"), "another host name gives %v", err)

	w.says(client, verified+`
		(while [ "$(ask incr new)" -gt 0 ] || echo new >> /tmp/errors; do :; done) > /tmp/new 2>&1 &
		((while :; do echo incr long; echo client id; sleep 0.1; done) | ask; echo long >> /tmp/errors) > /tmp/long 2>&1 &
		echo started`, "started")
	w.renew("cache")
	second, err := w.presented("cache", "cache."+w.namespace+".svc", "")
	w.must(err == nil && first != second, "a client in Go sees %s, then %s: %v", first, second, err)

	errors, _ := client("cat /tmp/errors 2> /dev/null || true")
	fresh, _ := client(verified + "ask get new")
	long, _ := client(verified + "ask get long")
	connections, _ := client(`sed -n 'n;p' /tmp/long | sort -u | wc -l`)
	w.Logf("writes during the renewal: %s by new connections, %s by one connection; errors: %q", fresh, long, errors)
	w.must(errors == "" && fresh != "" && long != "" && connections == "1", "errors: %q, writes %s and %s by %s connections", errors, fresh, long, connections)
}

// A running cluster gets TLS without an outage of its clients: first Allow, then Require.
func TestARunningClusterMigratesToTLS(t *testing.T) {
	w := newWorld(t)
	w.migrates("orders", "postgresql-single-v1", postgresImage, "")
	w.migrates("payments", "postgresql-v1", w.needs(patroniImage), "  replicas: 2\n") // which has an action for its configuration
}

// migrates turns on TLS in steps.
func (w world) migrates(cluster, engine, image, more string) {
	w.apply(strings.NewReplacer("NAME", cluster, "ENGINE", engine, "IMAGE", image, "  tls: {selfSigned: {}}\n", more).Replace(encrypted))
	w.await(cluster, "Ready")
	for _, step := range []struct{ mode, plain string }{{"Allow", "1 row"}, {"Require", "no encryption"}} {
		w.do("patch", "databasecluster", cluster, "--type=merge", "-p", `{"spec":{"tls":{"selfSigned":{},"mode":"`+step.mode+`"}}}`)
		generation := w.of("databasecluster/"+cluster, "{.metadata.generation}")
		w.eventually(generation, "get", "databasecluster", cluster, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].observedGeneration}`)
		w.await(cluster, "Ready")
		w.await(cluster, "TLSReady")
		client := w.verifyingClient(cluster+"-in-"+strings.ToLower(step.mode), cluster, image)
		w.says(client, `PGHOST=$HOST PGSSLMODE=disable psql -Xqc "SELECT 1"`, step.plain)
		w.says(client, `PGHOST=$HOST PGSSLMODE=verify-full PGSSLROOTCERT=/ca/ca.crt psql -Xqc "SELECT 1"`, "1 row")
	}
}
