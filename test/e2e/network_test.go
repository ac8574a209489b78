//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"strings"
	"testing"
)

// client is a pod that connects to databases.
const client = `
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: LABELS}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: psql
    image: POSTGRES
    command: [sleep, infinity]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// listeners are two more servers in each member: one at a port that the spec declares, and one that it does not.
const listeners = `pod:
  sidecars:
  - &listener
    name: undeclared
    command: [sh, -ec, 'initdb -D /tmp/data -A trust >/dev/null; exec postgres -D /tmp/data -p $0 -c listen_addresses=* -c unix_socket_directories=/tmp', "5433"]
  - <<: *listener
    name: declared
    command: [sh, -ec, 'initdb -D /tmp/data -A trust >/dev/null; exec postgres -D /tmp/data -p $0 -c listen_addresses=* -c unix_socket_directories=/tmp', "5434"]
    ports: [{name: metrics, containerPort: 5434}]
`

// neighbor is another namespace with a client.
func (w world) neighbor(suffix, labels string) world {
	w.Helper()
	w.namespace += "-" + suffix
	w.begin()
	w.Cleanup(func() { _, _ = run(context.Background(), "", "delete", "namespace", w.namespace, "--wait=false") })
	w.client("client", labels)
	return w
}

func (w world) client(name, labels string) {
	w.Helper()
	w.apply(strings.NewReplacer("NAME", name, "LABELS", labels, "POSTGRES", postgresImage).Replace(client))
	w.do("wait", "pod/"+name, "--for=condition=Ready", "--timeout="+patience.String())
}

// dials reports whether a port of a host answers a pod.
func (w world) dials(pod, host, port string) string {
	w.Helper()
	return w.do("exec", pod, "--", "sh", "-c", `pg_isready -t 3 -U postgres -h "$0" -p "$1"; true`, host, port)
}

// selects runs a query of a client with the password of the database.
func (w world) selects(pod, host string) string {
	w.Helper()
	return w.do("exec", pod, "--", "sh", "-c", `PGCONNECT_TIMEOUT=3 PGPASSWORD=secret psql -X -q -t -A -h "$0" -U postgres -c "SELECT 'connected'" 2>&1; true`, host)
}

func TestTheNetworkPolicyOfAClusterIsEnforced(t *testing.T) {
	onLocalNode(t, "the network plugin of another cluster may not enforce policies")
	w := newWorld(t)
	w.apply(volume)
	friends := w.neighbor("friends", "{app: web}")
	w.independent("orders", "replicas: 2", "backup: {destination: "+toVolume+"}", listeners,
		"networkPolicy: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "+friends.namespace+"}}}]}")
	ofAJob := "{app.kubernetes.io/name: databasecluster, app.kubernetes.io/instance: orders, app.kubernetes.io/component: backup}"
	strangers := w.neighbor("strangers", ofAJob)
	w.client("local", "{app: web}")
	w.await("orders", "Ready")

	service, member := "orders."+w.namespace+".svc", host(0)+"."+w.namespace+".svc"
	friends.eventually("connected", "exec", "client", "--", "sh", "-c", `PGPASSWORD=secret psql -X -t -A -h "$0" -U postgres -c "SELECT 'connected'"`, service)
	for name, got := range map[string]string{
		"a pod of another namespace, with the labels of a Job":                     strangers.selects("client", service),
		"a pod of the same namespace that no peer selects":                         w.selects("local", service),
		"a pod of another namespace, at the member":                                strangers.selects("client", member),
		"a pod that may connect to the database, at a port that is not declared":   friends.dials("client", member, "5433"),
		"a pod of the same namespace, at a port that is not declared":              w.dials("local", member, "5433"),
		"a pod with the labels of a Job elsewhere, at a port that is not declared": strangers.dials("client", member, "5433"),
	} {
		w.must(strings.Contains(got, "timeout") || strings.Contains(got, "no response"), "%s got an answer: %s", name, got)
		w.Logf("%s: %s", name, got)
	}
	for name, got := range map[string]string{
		"another member, at a port that is not declared": w.dials("orders-1", member, "5433"),
		"another member, at the client port":             w.dials("orders-1", member, "5432"),
		"any client, at a declared port of a sidecar":    strangers.dials("client", member, "5434"),
	} {
		w.must(strings.Contains(got, "accepting connections"), "%s: %s", name, got)
	}
	w.backup("first", "orders")
	w.completed("first")

	w.patch(`{"networkPolicy":{"mode":"None","from":null}}`)
	strangers.eventually("connected", "exec", "client", "--", "sh", "-c", `PGPASSWORD=secret psql -X -t -A -h "$0" -U postgres -c "SELECT 'connected'"`, service)
	w.must(w.do("get", "networkpolicies", "-o", "name") == "", "a policy is left")
	w.must(w.of("pod/orders-0", "{.status.containerStatuses[0].restartCount}") == "0", "a member was restarted")
}

// lockdown denies all that pods send, as a strict namespace does.
const lockdown = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: default-deny}
spec: {podSelector: {}, policyTypes: [Egress]}
`

func TestANetworkPolicyThatLocksJobsOutIsNamed(t *testing.T) {
	onLocalNode(t, "the network plugin of another cluster may not enforce policies")
	w := newWorld(t)
	w.apply(volume)
	w.postgres("orders", "backup: {deadlineSeconds: 300, destination: "+toVolume+"}")
	w.await("orders", "Ready")
	w.apply(lockdown)
	w.backup("first", "orders")
	w.eventually("NetworkPolicies", "get", "databasebackup", "first", "-o", "jsonpath={.status.message}")
	w.Log(w.of("databasebackup/first", "{.status.phase}: {.status.message}"))
	w.do("delete", "networkpolicy", "default-deny")
	w.completed("first")
}

// refusesOthers tests that only pods with a label reach the sample, where policies are enforced.
func (w world) refusesOthers() {
	w.client("web", "{app: web}")
	w.client("other", "{app: other}")
	w.eventually("accepting connections", "exec", "web", "--", "pg_isready", "-t", "3", "-U", "postgres", "-h", "accounts")
	if !onAnotherCluster {
		got := w.dials("other", "accounts", "5432")
		w.must(strings.Contains(got, "no response"), "a pod without the label connects: %s", got)
	}
}
