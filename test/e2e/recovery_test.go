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

// database is a PostgreSQL of the engine that comes with the operator.
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

// volume is a claim of its own for backups, which Jobs mount by turns.
const volume = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: backups}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

const toVolume = `{url: "file:///orders", claimName: backups}`

// postgres makes a cluster; more is YAML of its spec, lines that begin at the margin.
func (w world) postgres(name string, more ...string) {
	w.Helper()
	w.manifest("v1", "Secret", "orders", "stringData: {password: secret}")
	w.apply(strings.NewReplacer("NAME", name, "IMAGE", postgresImage).Replace(database) + indent(more...))
}

// independent creates PostgreSQLs that are members of one cluster. The built-in engine allows only one.
func (w world) independent(name string, more ...string) {
	w.Helper()
	engine, err := engines.Manifest()
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

// million makes a table of 1,000,000 rows in a member. All that is in it makes the fingerprint.
func (w world) million(pod string) {
	w.Helper()
	w.psql(pod, "CREATE TABLE item AS SELECT i AS id, md5(i::text) AS text FROM generate_series(1, 1000000) i")
}

func (w world) fingerprint(pod string) string {
	w.Helper()
	return w.psql(pod, "SELECT count(*) || ' ' || md5(string_agg(id || text, ',' ORDER BY id)) FROM item")
}

// psql runs a statement in a member, where everybody is trusted.
func (w world) psql(pod, statement string) string {
	w.Helper()
	return w.do("exec", pod, "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", "-U", "postgres", "-c", statement)
}

// backup asks for a backup; more is YAML of its spec.
func (w world) backup(name, cluster string, more ...string) {
	w.Helper()
	w.manifest("database.dbcluster.io/v1alpha1", "DatabaseBackup", name, "spec:", indent(append(more, "cluster: "+cluster)...))
}

// completed waits for a backup and logs what users see.
func (w world) completed(name string) {
	w.Helper()
	w.eventually("Completed", "get", "databasebackup", name, "-o", "jsonpath={.status.phase}")
	w.Log("\n" + w.do("get", "databasebackups", "-o", "wide"))
}

// of is a field of an object, or more text made of its fields.
func (w world) of(object, path string) string {
	w.Helper()
	return w.do("get", object, "-o", "jsonpath="+path)
}

// condition is one, as "True Reason: message".
func condition(kind string) string {
	return `jsonpath={range .status.conditions[?(@.type=="` + kind + `")]}{.status} {.reason}: {.message}{end}`
}

// turns waits until a condition of an object says all the words, and until a Warning event says them, too, where one
// is due.
func (w world) turns(object, kind string, words ...string) {
	w.Helper()
	for _, word := range words {
		w.eventually(word, "get", object, "-o", condition(kind))
	}
	w.Log(object, kind, w.do("get", object, "-o", condition(kind)))
}

// warned waits for a Warning event about an object that says the word.
func (w world) warned(name, word string) {
	w.Helper()
	w.eventually(word, "get", "events.v1.events.k8s.io", "--field-selector=type=Warning",
		"-o", `jsonpath={range .items[?(@.regarding.name=="`+name+`")]}{.reason}: {.note}{"\n"}{end}`)
}
