//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"

	"github.com/dbcluster/databasecluster-operator/internal/testing/engines"
)

// database is a PostgreSQL cluster of the built-in engine.
const database = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: NAME}
spec:
  engine: postgresql-single-v1
  image: IMAGE
  credentials:
    secretName: orders
  replicas: 1
  resources: {requests: {cpu: 50m}}
  storage: {size: 1Gi}
`

// volume is a claim for backups only; one Job mounts it at a time.
const volume = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: backups}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

const toVolume = `{url: "file:///orders", claimName: backups}`

// postgres creates a cluster. The argument more is YAML of its spec, with lines that begin at the margin.
func (w world) postgres(name string, more ...string) {
	w.Helper()
	w.manifest("v1", "Secret", "orders", "stringData: {password: secret, owner-password: owner, pooler-password: pooler}")
	w.apply(strings.NewReplacer("NAME", name, "IMAGE", postgresImage).Replace(database) + indent(more...))
}

// independent creates PostgreSQLs that are members of one cluster. The built-in engine allows only one.
func (w world) independent(name string, more ...string) {
	w.Helper()
	engine, err := engines.Manifest(engines.Current, "postgresql-single-v1")
	w.must(err == nil, "the engine: %v", err)
	w.apply(engine)
	w.postgres(name, append([]string{"engine: " + engines.Independent}, more...)...)
}

// manifest applies an object; more is YAML beside its metadata.
func (w world) manifest(version, kind, name string, more ...string) {
	w.Helper()
	w.apply(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s\n", version, kind, name, strings.Join(more, "\n")))
}

func indent(blocks ...string) string {
	var text strings.Builder
	for line := range strings.Lines(strings.Join(blocks, "\n") + "\n") {
		text.WriteString("  " + line)
	}
	return text.String()
}

// million creates a table of 1,000,000 rows in a member. All rows determine the fingerprint.
func (w world) million(pod string) {
	w.Helper()
	w.psql(pod, "CREATE TABLE item AS SELECT i AS id, md5(i::text) AS text FROM generate_series(1, 1000000) i")
}

func (w world) fingerprint(pod string) string {
	w.Helper()
	return w.psql(pod, "SELECT count(*) || ' ' || md5(string_agg(id || text, ',' ORDER BY id)) FROM item")
}

// psql runs a statement in a member, where the server trusts every local user.
func (w world) psql(pod, statement string) string {
	w.Helper()
	return w.do("exec", pod, "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", "-U", "postgres", "-c", statement)
}

// backup creates a DatabaseBackup; more is YAML of its spec.
func (w world) backup(name, cluster string, more ...string) {
	w.Helper()
	w.manifest("database.dbcluster.io/v1alpha1", "DatabaseBackup", name, "spec:", indent(append(more, "cluster: "+cluster)...))
}

// completed waits for a backup and logs the output that users see.
func (w world) completed(name string) {
	w.Helper()
	w.eventually("Completed", "get", "databasebackup", name, "-o", "jsonpath={.status.phase}")
	w.Log("\n" + w.do("get", "databasebackups", "-o", "wide"))
}

// of returns a field of an object, or a text of several fields.
func (w world) of(object, path string) string {
	w.Helper()
	return w.do("get", object, "-o", "jsonpath="+path)
}

// condition is a template that prints a condition as "True Reason: message".
func condition(kind string) string {
	return `jsonpath={range .status.conditions[?(@.type=="` + kind + `")]}{.status} {.reason}: {.message}{end}`
}

// awaitReported waits until a condition of an object contains all the words. For a problem, it also waits for a
// Warning event with each of them.
func (w world) awaitReported(object, kind string, words ...string) {
	w.Helper()
	for _, word := range words {
		w.eventually(word, "get", object, "-o", condition(kind))
	}
	w.Log(object, kind, w.do("get", object, "-o", condition(kind)))
}

// awaitWarning waits for a Warning event about an object that contains the word.
func (w world) awaitWarning(name, word string) {
	w.Helper()
	w.eventually(word, "get", "events.v1.events.k8s.io", "--field-selector=type=Warning",
		"-o", `jsonpath={range .items[?(@.regarding.name=="`+name+`")]}{.reason}: {.note}{"\n"}{end}`)
}
