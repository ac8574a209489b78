//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// restored creates a cluster from a backup and compares its data with the original.
func (w world) restored(name, source, want string) {
	w.Helper()
	w.postgres(name, "bootstrap: {fromBackup: "+source+"}")
	w.await(name, "Ready")
	got := w.fingerprint(name + "-0")
	w.must(got == want, "%s has %q, want %q", name, got, want)
	w.must(strings.HasPrefix(got, "1000000 "), "%s does not have a million rows: %q", name, got)
	w.eventually("Completed", "get", "databasecluster", name, "-o", "jsonpath={.status.restore.phase}")
	w.Log(name, w.of("databasecluster/"+name, "{.status.restore}"))
}

// filled creates the cluster orders with a million rows and an S3 server. It returns the fingerprint that a restore
// must reproduce.
func (w world) filled(spec ...string) (want string) {
	w.Helper()
	w.s3()
	w.postgres("orders", spec...)
	w.await("orders", "Ready")
	w.million("orders-0")
	return w.fingerprint("orders-0")
}

func TestSmokeABackupOnAVolumeIsRestored(t *testing.T) {
	w := newWorld(t)
	w.apply(volume)
	w.postgres("orders", "backup: {destination: "+toVolume+"}")
	w.await("orders", "Ready")
	w.million("orders-0")
	want := w.fingerprint("orders-0")
	w.backup("before-the-migration", "orders")
	w.completed("before-the-migration")
	w.psql("orders-0", "DROP TABLE item")
	w.restored("again", "{name: before-the-migration}", want)
}

func TestABucketOutlivesClustersAndTheirBackups(t *testing.T) {
	w := newWorld(t)
	want := w.filled("backup: {destination: " + toS3 + "}")
	w.backup("first", "orders")
	w.backup("second", "orders", "deletionPolicy: Delete")
	w.completed("first")
	w.completed("second")
	w.eventually("True", "get", "databasecluster", "orders", "-o", condition("BackupHealthy"))
	w.restored("by-name", "{name: first}", want)

	first, second := w.of("databasebackup/first", "{.status.location}"), w.of("databasebackup/second", "{.status.location}")
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.do("delete", "databasebackups", "--all", "--timeout="+patience.String())
	w.must(w.bucket("ls "+folder(first)) != "", "deletionPolicy Retain did not retain the data")
	w.must(w.bucket("find . -path '*"+folder(second)+"*' -type f") == "", "deletionPolicy Delete did not delete the data")
	w.restored("by-location", `{location: {url: "`+first+`", endpoint: "http://s3:7070", credentialsSecretName: backup-credentials}}`, want)
}

func TestAScheduleCreatesBackupsThatAreVerified(t *testing.T) {
	w := newWorld(t)
	w.filled(`
backup:
  destination: ` + toS3 + `
  unhealthyAfter: 1h
  schedules: [{name: often, schedule: "* * * * *", retention: {count: 2}}]
  verification: {schedule: "* * * * *", deadlineSeconds: 300}`)
	first := w.scheduled(0)
	w.completed(first)
	w.awaitReported("databasecluster/orders", "BackupHealthy", "True")
	w.awaitReported("databasecluster/orders", "BackupVerified", "True")
	w.completed(w.scheduled(2))
	w.do("wait", "--for=delete", "databasebackup/"+first, "--timeout="+patience.String())
}

// scheduled returns the name of a backup that a schedule created, by its number from 0.
func (w world) scheduled(number int) string {
	w.Helper()
	path := fmt.Sprintf("jsonpath={.items[%d].metadata.name}", number)
	w.eventually("orders-often", "get", "databasebackups", "--sort-by=.metadata.creationTimestamp", "-o", path)
	return w.do("get", "databasebackups", "--sort-by=.metadata.creationTimestamp", "-o", path)
}

func TestVerificationFindsAChangedPieceAndRestoreRefusesIt(t *testing.T) {
	w := newWorld(t)
	w.filled("backup: {destination: " + toS3 + `, verification: {schedule: "@yearly"}}`)
	w.backup("good", "orders")
	w.completed("good")
	w.do("annotate", "databasebackup", "good", "database.dbcluster.io/verify=1")
	w.awaitReported("databasebackup/good", "Verified", "True")
	w.awaitReported("databasecluster/orders", "BackupVerified", "True")

	piece := folder(w.of("databasebackup/good", "{.status.location}")) + "/member-0/00000-*.zst" // the attempt is part of the name
	w.bucket("printf changed | dd of=$(ls " + piece + ") bs=1 seek=100000 conv=notrunc")
	w.do("annotate", "databasebackup", "good", "database.dbcluster.io/verify=2", "--overwrite")
	w.awaitReported("databasebackup/good", "Verified", "False", "member-0/00000-")
	w.awaitReported("databasecluster/orders", "BackupVerified", "False", "good")
	w.awaitWarning("orders", "good")
	w.awaitWarning("good", "member-0/00000-")

	manifest := folder(w.of("databasebackup/good", "{.status.location}")) + "/manifest.json"
	w.bucket("cp " + manifest + " /data/whole; truncate -s -20 " + manifest)
	w.do("annotate", "databasebackup", "good", "database.dbcluster.io/verify=3", "--overwrite")
	w.awaitReported("databasebackup/good", "Verified", "False", "manifest.json")
	w.bucket("cat /data/whole > " + manifest)

	w.postgres("again", "bootstrap: {fromBackup: {name: good}}")
	w.awaitReported("databasecluster/again", "Stalled", "True RestoreFailed", "member-0/00000-")
	w.awaitWarning("again", "member-0/00000-")
	w.must(w.do("get", "pods", "-l", "app.kubernetes.io/instance=again,app.kubernetes.io/component=database", "-o", "name") == "", "a member runs with a partly restored volume")
}

func TestARestoreReportsAnUnreachableBucketAndResumes(t *testing.T) {
	w := newWorld(t)
	want := w.filled("backup: {destination: " + toS3 + "}")
	w.backup("full", "orders")
	w.completed("full")
	w.do("delete", "pod", "s3")
	w.postgres("again", "bootstrap: {fromBackup: {name: full}}")
	w.awaitReported("databasecluster/again", "Progressing", "True RestoreRetrying", "connect")
	w.awaitWarning("again", "RestoreRetrying")
	w.s3()
	w.restored("again", "{name: full}", want)
}

func TestEveryMemberGetsItsOwnDataBack(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.independent("orders", "backup: {destination: "+toS3+"}", "replicas: 2")
	w.await("orders", "Ready")
	for _, pod := range []string{"orders-0", "orders-1"} {
		w.psql(pod, "CREATE TABLE note AS SELECT '"+pod+"' AS text")
	}
	w.backup("both", "orders")
	w.completed("both")
	w.Log(w.of("databasebackup/both", "{.status.streams}"))
	w.independent("again", "bootstrap: {fromBackup: {name: both}}", "replicas: 2")
	w.await("again", "Ready")
	for i := range 2 {
		got := w.psql(fmt.Sprintf("again-%d", i), "SELECT text FROM note")
		w.must(got == fmt.Sprintf("orders-%d", i), "again-%d has the data of %s", i, got)
	}
	w.independent("wrong", "bootstrap: {fromBackup: {name: both}}")
	w.awaitReported("databasecluster/wrong", "Stalled", "True", "Set spec.replicas to 2")
}

const redisEngine = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: NAME}
spec:
  engine: redis-single-v1
  image: IMAGE
  credentials:
    secretName: orders
  replicas: 1
  resources: {requests: {cpu: 10m}}
  storage: {size: 100Mi}
`

func TestARedisClusterIsRestored(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.manifest("v1", "Secret", "orders", "stringData: {password: secret, owner-password: owner, pooler-password: pooler}")
	text := strings.ReplaceAll(redisEngine, "IMAGE", w.needs(redisImage))
	w.apply(strings.ReplaceAll(text, "NAME", "cache") + indent("backup: {destination: "+toS3+"}"))
	w.await("cache", "Ready")
	ask := func(pod string, command ...string) string {
		return w.do(append([]string{"exec", pod, "-c", "database", "--", "env", "REDISCLI_AUTH=secret", "redis-cli", "-e"}, command...)...)
	}
	ask("cache-0", "eval", "for i = 1, 10000 do redis.call('set', 'key' .. i, i) end", "0")
	w.backup("full", "cache")
	w.completed("full")
	ask("cache-0", "flushall")
	w.apply(strings.ReplaceAll(text, "NAME", "again") + indent("bootstrap: {fromBackup: {name: full}}"))
	w.await("again", "Ready")
	w.must(strings.HasSuffix(ask("again-0", "dbsize"), "10000"), "there are %s keys", ask("again-0", "dbsize"))
	sum := ask("again-0", "eval", "local s = 0 for i = 1, 10000 do s = s + redis.call('get', 'key' .. i) end return s", "0")
	w.must(strings.HasSuffix(sum, "50005000"), "the sum of the values is %s", sum)
}
