//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

const archivedInBucket = `
  backup:
    destination: {url: "s3://backups/prod", endpoint: "http://s3:7070", credentialsSecretName: backup-credentials}
    archive: {maxLagSeconds: 1, windowHours: 1}
    unchangedData: Reuse
`

// rarely is a schedule that creates a backup only because the archive needs one.
const rarely = `    schedules: [{name: yearly, schedule: "0 0 1 1 *"}]
    verification: {schedule: "0 0 1 1 *", recover: Alternate}
`

const fromAMoment = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: NAME
spec:
  engine: postgresql-v1
  replicas: 1
  image: IMAGE
  resources: {requests: {cpu: 20m, memory: 100Mi}}
  storage: {size: 1Gi}
  parameters: {shared_buffers: 32MB, max_connections: "50", track_commit_timestamp: "on"}
  bootstrap:
    fromBackup:
      name: BACKUP
      recoveryTarget: {time: "TIME"}
`

const aLook = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseRestore
metadata:
  name: NAME
spec:
  clusterRef: {name: ledger}
  source:
    recoveryTarget: {time: "TIME"}
`

const atAPoint = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseRestore
metadata:
  name: NAME
spec:
  clusterRef: {name: ledger}
  source:
    backupRef: {name: BACKUP}
    recoveryTarget: {name: "POINT"}
`

// archiving is what the condition of the archive reports.
func (w world) archiving() []string {
	return []string{"get", "databasecluster", "ledger", "-o",
		`jsonpath={range .status.conditions[?(@.type=="ContinuousArchiving")]}{.status} {.reason} {.message}{end}`}
}

// writing inserts numbered rows from any member that runs, until the returned function is called.
func (w world) writing() (stop func()) {
	ctx, end := context.WithCancel(w.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ctx.Err() == nil; n++ {
			member := []string{"ledger-0", "ledger-1"}[n%2]
			_, _ = run(ctx, "", "-n", w.namespace, "exec", member, "-c", "database", "--", "sh", "-c",
				`PGPASSWORD=$(cat /dbc/secrets/password) PGCONNECT_TIMEOUT=2 psql -X -q -h ledger -U postgres -d app -c "INSERT INTO tick DEFAULT VALUES"`)
		}
	}()
	return func() { end(); <-ended }
}

// utcNow is the time as recoveryTarget has it.
const utcNow = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

// ticks are the rows that were committed until a time.
const ticks = "SELECT count(*) || ' ' || coalesce(md5(string_agg(n::text, ',' ORDER BY n)), '') FROM tick"

// A table is dropped after a killed archive, a hand-over and a failover. A preview has the data of the second before, and a new cluster the
// row of each commit until another one.
func TestTheSecondBeforeATableWasDroppedCanBeRecovered(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.manifest("v1", "Secret", "backup-credentials", "stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: test-secret}")
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "replicas: 3", "replicas: 2",
		`max_connections: "50"}`, `max_connections: "50", track_commit_timestamp: "on"}`)
	w.apply(replicated + archivedInBucket + rarely)
	w.await("ledger", "Ready")
	w.eventually("True Archiving", w.archiving()...)
	w.ask("ledger", "CREATE TABLE tick (n serial PRIMARY KEY); INSERT INTO tick DEFAULT VALUES")
	w.eventually("; any time since 2", w.archiving()...)
	base := w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.recovery.backups[0]}")
	w.must(strings.HasPrefix(base, "ledger-yearly-"), "the window needs %s", base)
	t.Log(w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.recovery}"))

	stop := w.writing()
	time.Sleep(5 * time.Second)
	w.do("delete", "pods", "-l", "app.kubernetes.io/component=archive", "--force", "--grace-period=0")
	time.Sleep(5 * time.Second)
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-1")
	w.eventually("ledger-1", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	time.Sleep(5 * time.Second)
	w.do("delete", "pod", "ledger-1", "--force", "--grace-period=0")
	w.eventually("True PrimaryReady", w.available("ledger")...)
	time.Sleep(10 * time.Second)
	stop()
	w.ready()

	moment := w.ask("ledger", "SELECT "+utcNow)
	want := w.ask("ledger", ticks)
	half := w.ask("ledger", "SELECT to_char(pg_xact_commit_timestamp(xmin) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM tick ORDER BY n OFFSET (SELECT count(*)/2 FROM tick) LIMIT 1")
	wantHalf := w.ask("ledger", ticks+" WHERE pg_xact_commit_timestamp(xmin) <= '"+half+"'")
	point := w.ask("ledger", "SELECT "+utcNow+" FROM pg_create_restore_point('before the \"drop\"')")
	time.Sleep(time.Second)
	w.ask("ledger", "DROP TABLE tick")
	w.eventually("True Archiving", w.archiving()...)
	time.Sleep(5 * time.Second)
	t.Logf("%s rows until %s, %s until %s", want, moment, wantHalf, half)

	w.do("annotate", "databasebackup", base, "database.dbcluster.io/verify=1")
	w.eventually("Succeeded Newest 2", "get", "databasebackup", base, "-o",
		"jsonpath={.status.verification.phase} {.status.verification.recovery.target} {.status.verification.recovery.recoveredTo}")
	t.Log(w.do("get", "databasebackup", base, "-o", "jsonpath={.status.verification.recovery} {.status.verification.message}"))

	w.hasRows("half", "half", half, wantHalf, strings.NewReplacer("NAME", "half", "TIME", half, "BACKUP", base).Replace(fromAMoment))
	w.hasRows("before", "before-preview", moment, want, strings.NewReplacer("NAME", "before", "TIME", moment).Replace(aLook))
	w.eventually("PreviewReady "+base+" "+moment[:19]+"Z", "get", "databaserestore", "before", "-o",
		`jsonpath={.status.conditions[?(@.type=="Ready")].reason} {.status.backupRef.name} {.status.recoveredTo}`)
	w.must(w.sqlOf("before-preview-0", "before-preview", "SHOW transaction_read_only") == "on", "clients can change the preview by mistake")
	w.replaces("before", moment, want)
	w.do("delete", "databaserestore", "before")
	w.do("wait", "--for=delete", "databasecluster/before-preview", "persistentvolumeclaim/data-before-preview-0", "--timeout=5m")
	w.eventually("data-ledger-0 data-ledger-1", "get", "persistentvolumeclaims", "-l", "app.kubernetes.io/instance=ledger", "-o", "jsonpath={.items[*].metadata.name}")

	w.apply(strings.NewReplacer("NAME", "never", "TIME", "2099-01-01T00:00:00Z").Replace(aLook))
	w.eventually("2099-01-01T00:00:00Z is after ", "get", "databaserestore", "never", "-o", `jsonpath={.status.conditions[?(@.type=="Stalled")].message}`)
	at := func(name, point string) string {
		return strings.NewReplacer("NAME", name, "BACKUP", base, "POINT", point).Replace(atAPoint)
	}
	w.hasRows("named", "named-preview", point, want, at("named", `before the \"drop\"`))
	w.apply(at("unknown", "before the move"))
	w.eventually("has no restore point \"before the move\"", "get", "databaserestore", "unknown", "-o", `jsonpath={.status.conditions[?(@.type=="Stalled")].message}`)
}

// replaces gives the cluster the data of a restore, and its volumes from before back.
func (w world) replaces(restore, moment, want string) {
	began := time.Now()
	set := func(mode, reason string) {
		w.do("patch", "databaserestore", restore, "--type=merge", "-p", `{"spec":{"mode":"`+mode+`"}}`)
		w.eventually(reason, "get", "databaserestore", restore, "-o", `jsonpath={.status.conditions[?(@.status=="True")].reason}`)
		w.Logf("%s after %s", reason, time.Since(began).Round(time.Second))
	}
	set("Replace", "Replaced")
	w.await("ledger", "Ready")
	got := w.ask("ledger", ticks)
	w.must(got == want, "the cluster has %s of %s, and should have %s", got, moment, want)
	w.ask("ledger", "CREATE TABLE after_it (n int)")
	w.eventually("True Archiving", w.archiving()...)
	w.eventually("data-0", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.replacement.volumeClaimTemplate}")
	w.eventually("; any time since 2", w.archiving()...)

	began = time.Now()
	set("Undo", "Undone")
	w.await("ledger", "Ready") // the last primary starts first, and statements run in the pod of member 0
	got = w.ask("ledger", "SELECT coalesce(to_regclass('tick')::text, 'no tick') || ', ' || coalesce(to_regclass('after_it')::text, 'nothing after it')")
	w.must(got == "no tick, nothing after it", "after the undo, the cluster has %s", got)
	w.eventually("True Archiving", w.archiving()...)
}

// hasRows applies a manifest, and checks the rows of the cluster that comes of it.
func (w world) hasRows(name, cluster, moment, want, manifest string) {
	began := time.Now()
	w.apply(manifest)
	w.eventually("Ready", "get", "databasecluster", cluster, "--ignore-not-found", "-o", `jsonpath={.metadata.name} {.status.conditions[?(@.status=="True")].type}`)
	w.await(cluster, "Ready")
	w.Logf("%s is Ready after %s", name, time.Since(began).Round(time.Second))
	got := w.sqlOf(cluster+"-0", cluster, ticks)
	w.must(got == want, "the cluster of %s has %s, and should have %s", moment, got, want)
	w.eventually(moment[:19]+"Z", "get", "databasecluster", cluster, "-o", "jsonpath={.status.restore.recoveredTo}")
}

// While the bucket is away, the condition names the cause, and a member stops in its usual time. The archive gets later what was written then.
func TestABucketThatIsAwayDelaysNoStopAndLosesNothing(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.manifest("v1", "Secret", "backup-credentials", "stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: test-secret}")
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "replicas: 3", "replicas: 1")
	w.apply(replicated + archivedInBucket)
	w.await("ledger", "Ready")
	w.eventually("True Archiving", w.archiving()...)
	w.ask("ledger", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")
	hibernate := func(how string) {
		began := time.Now()
		w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"hibernated":true}}`)
		w.await("ledger", "Hibernated")
		t.Logf("hibernated after %s %s", time.Since(began).Round(time.Second), how)
	}
	// A server that stops waits for its last record, but not for the time after which others are stored.
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"backup":{"archive":{"maxLagSeconds":3600}}}}`)
	w.eventually("about 1h2m0s old", w.archiving()...)
	w.ask("ledger", "INSERT INTO note VALUES ('another one')")
	hibernate("with an archive that waits for an hour")
	w.eventually("False Hibernated", w.archiving()...)
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"hibernated":false,"backup":{"archive":{"maxLagSeconds":1}}}}`)
	w.ready()
	w.eventually("True Archiving", w.archiving()...)

	w.do("patch", "service", "s3", "-p", `{"spec":{"selector":{"away":"yes"}}}`)
	w.eventually("False ArchiveBehind", w.archiving()...)
	t.Log(w.do(w.archiving()...))
	hibernate("while the bucket was away")
	w.do("patch", "service", "s3", "-p", `{"spec":{"selector":{"away":null}}}`)
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"hibernated":false}}`)
	w.ready()
	w.eventually("True Archiving", w.archiving()...)
	w.keepsTheRow()
}
