//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// declared is a database with a user who can write in it and one who can read it.
const declared = `
apiVersion: database.dbcluster.io/v1alpha1
kind: Database
metadata: {name: invoices}
spec: {clusterRef: {name: orders}, name: invoices, reclaimPolicy: Delete}
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseUser
metadata: {name: billing}
spec:
  clusterRef: {name: orders}
  name: billing
  databases: [{name: invoices, privileges: [owner]}]
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseUser
metadata: {name: reporting}
spec:
  clusterRef: {name: orders}
  name: reporting
  databases: [{name: invoices, privileges: [readOnly]}]
  reclaimPolicy: Delete
`

// isReady waits for a Database or a DatabaseUser.
func (w world) isReady(object string) {
	w.Helper()
	w.do("wait", "--for=condition=Ready", object, "--timeout="+patience.String())
}

// From an empty namespace, in one manifest.
func TestUsersConnectWithNothingButTheirSecrets(t *testing.T) {
	w, start := newWorld(t), time.Now()
	w.apply(w.sample("postgresql") + "\n---\n" + declared)
	for _, object := range []string{"database/invoices", "databaseuser/billing", "databaseuser/reporting"} {
		w.isReady(object)
	}
	w.Logf("from the empty namespace to a database and two users: %.1f s", time.Since(start).Seconds())
	w.await("orders", "Ready")

	writer, reader := w.secret("billing-user", "uri"), w.secret("reporting-user", "uri")
	text, err := w.asClient("writer", writer, "CREATE TABLE invoice (number int); INSERT INTO invoice VALUES (42)")
	w.must(err == nil, "the writer: %v: %s", err, text)
	text, err = w.asClient("reader", reader, "SELECT number FROM invoice")
	w.must(err == nil && text == "42", "the reader reads %q: %v", text, err)
	text, err = w.asClient("forbidden", reader, "INSERT INTO invoice VALUES (43)")
	w.must(err != nil && strings.Contains(text, "permission denied"), "the reader writes: %q", text)

	start = time.Now()
	w.apply(strings.NewReplacer("name: reporting", "name: late").Replace(declared[strings.LastIndex(declared, "---"):]))
	w.isReady("databaseuser/late")
	took := time.Since(start)
	text, err = w.asClient("late", w.secret("late-user", "uri"), "SELECT number FROM invoice")
	w.must(err == nil && text == "42", "the late user reads %q: %v", text, err)
	w.Logf("from the apply to a new user on an idle cluster: %.1f s", took.Seconds())

	w.drift()
	w.gone()
}

// drift makes a user a superuser by hand, which the next run takes back.
func (w world) drift() {
	w.Helper()
	w.do("exec", "orders-0", "-c", "database", "--", "psql", "-XqtAc", "ALTER ROLE reporting SUPERUSER", "-U", "postgres")
	w.do("annotate", "databasecluster", "orders", fmt.Sprintf("database.dbcluster.io/refresh=%d", time.Now().Unix()), "--overwrite")
	role := []string{"exec", "orders-0", "-c", "database", "--", "psql", "-XqtAc", "SELECT rolsuper FROM pg_roles WHERE rolname = 'reporting'", "-U", "postgres"}
	w.eventually("f", role...)
}

// gone deletes a user, who cannot connect any more, and then the cluster, which waits for no object.
func (w world) gone() {
	w.Helper()
	uri := w.secret("reporting-user", "uri")
	w.do("delete", "databaseuser", "reporting", "--timeout="+patience.String())
	text, err := w.asClient("gone", uri, "SELECT 1")
	w.must(err != nil && strings.Contains(text, "authentication failed"), "the deleted user connects: %q", text)
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.do("delete", "database", "invoices", "--timeout="+patience.String())
}
