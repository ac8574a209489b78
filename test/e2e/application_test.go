//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import "testing"

// A restore reports what the backup has, if applications could not use it.
func TestARestoreWithoutTheDatabaseOfApplicationsIsRefused(t *testing.T) {
	w := newWorld(t)
	w.apply(volume)
	w.postgres("orders", "bootstrap: {database: shop, owner: seller}", "backup: {destination: "+toVolume+"}")
	w.await("orders", "Ready")
	w.do("exec", "orders-0", "-c", "database", "--", "psql", "-q", "-U", "seller", "-d", "shop", "-c", "CREATE TABLE t AS SELECT generate_series(1, 5) i")
	w.backup("first", "orders")
	w.completed("first")

	w.postgres("other", "bootstrap: {fromBackup: {name: first}}")
	w.awaitReported("databasecluster/other", "Stalled", "True", "shop (owner seller)")
	w.postgres("renamed", "bootstrap: {database: shop, owner: app, fromBackup: {name: first}}")
	w.await("renamed", "Ready")
	got := w.do("exec", "renamed-0", "-c", "database", "--", "psql", "-q", "-U", "app", "-d", "shop", "-Atc", "CREATE TABLE n (i int); SELECT count(*) FROM t")
	w.must(got == "5", "the application reads %q rows", got)
}
