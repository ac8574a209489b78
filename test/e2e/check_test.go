//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
)

// engine creates an engine for this test only: the built-in profile with one line replaced. The node may have the
// profile of a previous operator, because the operator never changes an engine.
func (w world) engine(profile, name, line, instead string) string {
	w.Helper()
	text, err := os.ReadFile("../../config/engines/" + profile + ".yaml")
	if err != nil {
		w.Fatal(err)
	}
	if strings.Count(string(text), "      "+line+"\n") != 1 {
		w.Fatalf("%s does not have exactly one line %q", profile, line)
	}
	name = name + "-" + w.namespace
	name = name[:min(len(name), 60)]
	w.apply(strings.NewReplacer("name: "+profile, "name: "+name, "      "+line+"\n", "      "+instead+"\n").Replace(string(text)))
	w.Cleanup(func() { _, _ = run(context.Background(), "", "delete", "databaseengine", name) })
	return name
}

// filledBy creates the cluster orders with an engine, 200,000 rows, an S3 server, and its backup full. It gathers
// statistics first, because the server would gather them later, which is a write.
func (w world) filledBy(engine string) {
	w.Helper()
	w.s3()
	w.replacements = []string{"engine: postgresql-single-v1", "engine: " + engine}
	w.postgres("orders", "backup: {destination: "+toS3+`, verification: {schedule: "@yearly"}}`)
	w.await("orders", "Ready")
	w.psql("orders-0", "CREATE TABLE item AS SELECT i AS id, md5(i::text) AS text FROM generate_series(1, 200000) i")
	w.psql("orders-0", "VACUUM ANALYZE")
	w.backup("full", "orders")
	w.completed("full")
	w.Log(w.of("databasebackup/full", "{.status.streams}"))
}

// verifies requests a verification and waits until it ends.
func (w world) verifies(backup, result string, words ...string) {
	w.Helper()
	w.do("annotate", "databasebackup", backup, "database.dbcluster.io/verify="+strings.ToLower(result), "--overwrite")
	w.awaitReported("databasebackup/"+backup, "Verified", append([]string{result}, words...)...)
	w.Log(w.of("databasebackup/"+backup, "{.status.verification}"))
}

func TestAVerificationComparesTheDataOfPostgreSQL(t *testing.T) {
	w := newWorld(t)
	w.filledBy(w.engine("postgresql-single-v1", "same", `mkdir "$PGDATA"`, `mkdir "$PGDATA"`))
	rows := w.of("databasebackup/full", "{.status.streams[0].facts.rows}")
	w.must(rows != "", "no client wrote, but the status does not record the rows")
	w.verifies("full", "True", "its data matches the recorded facts: systemIdentifier, position", "rows")
	got := w.of("databasebackup/full", "{.status.verification.streams[0].facts.rows}")
	w.must(got == rows, "the copy has %s rows, the status records %s", got, rows)
}

func TestAVerificationComparesTheDataOfRedis(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.manifest("v1", "Secret", "orders", "stringData: {password: secret, owner-password: owner, pooler-password: pooler}")
	const line = `cat > dump.rdb.new`
	text := strings.NewReplacer("IMAGE", w.needs(redisImage), "redis-single-v1", w.engine("redis-single-v1", "same", line, line)).Replace(redisEngine)
	w.apply(strings.ReplaceAll(text, "NAME", "cache") + indent("backup: {destination: "+toS3+`, verification: {schedule: "@yearly"}}`))
	w.await("cache", "Ready")
	w.do("exec", "cache-0", "-c", "database", "--", "env", "REDISCLI_AUTH=secret", "redis-cli", "-e", "eval",
		"for i = 1, 10000 do redis.call('set', 'key' .. i, i) redis.call('set', 'short' .. i, i, 'EX', 5) end", "0")
	w.backup("full", "cache")
	w.completed("full")
	w.must(w.of("databasebackup/full", "{.status.streams[0].facts.keys}") == "10000", "recorded is %s", w.of("databasebackup/full", "{.status.streams}"))
	w.verifies("full", "True", "its data matches the recorded facts: keys")
	w.must(w.of("databasebackup/full", "{.status.verification.streams[0].facts.keys}") == "10000", "the copy has %s", w.of("databasebackup/full", "{.status.verification}"))
}

func TestTheCheckFindsARestoreThatLosesRows(t *testing.T) {
	w := newWorld(t)
	const end = `wait "$!"` // the files are verified
	w.filledBy(w.engine("postgresql-single-v1", "loses", end, end+`; echo 'DELETE FROM item WHERE id > 36996' | postgres --single -D "$PGDATA" postgres >&2`))
	w.verifies("full", "False", "rows is 36996 in the restored copy, but 200000 was recorded")
	w.awaitReported("databasecluster/orders", "BackupVerified", "False", "full")
	w.awaitWarning("full", "rows is 36996")
}

func TestARestoreThatReadsNothingFails(t *testing.T) {
	w := newWorld(t)
	w.filledBy(w.engine("postgresql-single-v1", "reads", `mkdir "$PGDATA"`, "exit 0"))
	w.verifies("full", "False")
	w.must(w.of("databasebackup/full", "{.status.verification.message}") != "", "the status does not report why the verification failed")

	w.postgres("again", "bootstrap: {fromBackup: {name: full}}")
	w.awaitWarning("again", "Restore")
	w.must(!strings.Contains(w.do("get", "databasecluster", "again", "-o", condition("Ready")), "True"), "the cluster is ready without its data")
	w.must(w.do("get", "pods", "-l", "app.kubernetes.io/instance=again,app.kubernetes.io/component=database", "-o", "name") == "", "a member runs without its data")
}
