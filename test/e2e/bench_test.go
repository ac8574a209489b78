//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// bench measures backups and restores, and compares them with the database's own tools and zstd in a pod with the
// same resources. The work is the same: both compute and verify a SHA-256 of the stored bytes, and both wait for the disk
// where the result is on a volume. The figures exclude the start of pods. Before each measurement, of both sides, the pod
// of the commands starts again, the disk is idle, and the stored backups are not in memory. `make bench-backup` runs it.
type bench struct {
	world
	round     int
	server    time.Duration              // CPU time of the S3 server before the measurement
	megabytes float64                    // of the database
	took      map[string][]time.Duration // of each round
}

// The commands by hand.
const (
	handBackup   = "pg_basebackup -D - -Ft -X fetch --checkpoint=fast | zstd -q | tee /backups/base.zst | sha256sum >/backups/base.sha256"
	handParallel = "pg_basebackup -D - -Ft -X fetch --checkpoint=fast | zstd -q -T$(($(nproc) < 4 ? $(nproc) : 4)) | " +
		"tee /backups/base.zst | sha256sum >/backups/base.sha256" // with as many threads as transfer
	handDump = "pg_dump postgres | zstd -q | tee /backups/dump.zst | sha256sum >/backups/dump.sha256"
	handSync = "sync -f /backups"
	// sha256sum reads the file beside zstd, because the checksum is that of the stored bytes.
	handRestore = "mkdir -m 700 /backups/r; sha256sum --check --status /backups/base.sha256 </backups/base.zst & " +
		"zstd -dc /backups/base.zst | tar -x -C /backups/r; wait $!; pg_verifybackup -q /backups/r; sync -f /backups/r"
	// cold writes everything to the disks of the node, and then removes the files of the folder from memory.
	cold = "sync; find . -type f -exec dd if={} iflag=nocache count=0 status=none ';'"
)

// counterparts names what each transfer is compared with.
var counterparts = [][2]string{
	{"backup to s3", "pg_basebackup | zstd"}, {"backup to file", "pg_basebackup | zstd, sync"},
	{"backup to s3", "pg_basebackup | zstd -T"}, {"backup to file", "pg_basebackup | zstd -T, sync"},
	{"restore from s3", "zstd -d | tar | verify"}, {"restore from file", "zstd -d | tar | verify"},
}

// given are the resources of each measured container.
const given = `resources: {requests: {cpu: 100m, memory: 256Mi}, limits: {memory: 512Mi}}`

// byHand is a pod with the group of the operator's own pods, because two groups cannot share a volume.
const byHand = `
apiVersion: v1
kind: Pod
metadata: {name: by-hand}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: shell
    image: IMAGE
    command: [sleep, infinity]
    GIVEN
    env: [{name: PGHOST, value: orders}, {name: PGUSER, value: postgres}, {name: PGPASSWORD, value: secret}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: data, mountPath: /backups}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: backups}}]
`

func TestBenchBackup(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("DBC_BENCH_ROUNDS"))
	if rounds == 0 {
		t.Skip("DBC_BENCH_ROUNDS is not set: run it with `make bench-backup`")
	}
	b := &bench{world: newWorld(t), took: map[string][]time.Duration{}}
	b.s3()
	b.apply(volume)
	b.postgres("orders", "backup: {destination: "+toS3+", "+given+"}")
	b.await("orders", "Ready")
	b.psql("orders-0", "CREATE TABLE item AS SELECT i AS id, md5(i::text) AS a, md5((-i)::text) AS b FROM generate_series(1, 10000000) i")
	b.psql("orders-0", "VACUUM (FREEZE, ANALYZE) item")
	b.psql("orders-0", "CHECKPOINT")
	bytes, _ := strconv.ParseFloat(b.psql("orders-0", "SELECT pg_database_size('postgres')"), 64)
	b.megabytes = bytes / 1e6
	t.Logf("the database has %.0f MB", b.megabytes)
	for b.round = 1; b.round <= rounds; b.round++ {
		number := strconv.Itoa(b.round)
		b.alternate(
			func() { b.backups("backup to s3", "s3-"+number, toS3) },
			func() { b.plain("pg_basebackup | zstd", handBackup, handSync, "base") },
			func() { b.plain("pg_dump | zstd", handDump, handSync, "dump") },
			func() { b.plain("pg_basebackup | zstd -T", handParallel, handSync, "base") },
			func() { b.backups("backup to file", "file-"+number, toVolume) },
		)
		b.alternate(
			func() { b.restores("restore from s3", "s3-"+number) },
			func() { b.plain("zstd -d | tar | verify", handRestore, "", "base") },
			func() { b.restores("restore from file", "file-"+number) },
		)
		b.do("delete", "databasebackups", "--all", "--timeout="+patience.String())
	}
	b.compare()
}

// alternate runs the measurements in this order, and in the opposite order in odd rounds.
func (b *bench) alternate(measurements ...func()) {
	b.Helper()
	if b.round%2 == 1 {
		slices.Reverse(measurements)
	}
	for _, measurement := range measurements {
		b.do("delete", "pod", "by-hand", "--ignore-not-found", "--timeout="+patience.String())
		b.apply(strings.NewReplacer("IMAGE", postgresImage, "GIVEN", given).Replace(byHand))
		b.do("wait", "pod/by-hand", "--for=condition=Ready", "--timeout="+patience.String())
		b.do("exec", "by-hand", "--", "sh", "-ec", "cd /backups; rm -rf r; "+cold)
		b.bucket(cold)
		b.server = b.serverCPU()
		measurement()
	}
}

// compare reports the throughput of each transfer beside its counterpart: the median of the rounds.
func (b *bench) compare() {
	b.Helper()
	for _, pair := range counterparts {
		ours, theirs := b.took[pair[0]], b.took[pair[1]]
		ratios := make([]float64, len(ours))
		for i := range ours {
			ratios[i] = theirs[i].Seconds() / ours[i].Seconds()
		}
		slices.Sort(ratios)
		b.Logf("RATIO %-17s beside %-29s %.2f, rounds %.2f", pair[0], pair[1], ratios[len(ratios)/2], ratios)
	}
}

func (b *bench) figure(what string, took time.Duration, more string) {
	b.Helper()
	b.took[what] = append(b.took[what], took)
	b.Logf("FIGURE %-29s round %d %6.1f s %6.1f MB/s %s", what, b.round, took.Seconds(), b.megabytes/took.Seconds(), more)
}

// stored describes the size of a compressed backup.
func stored(bytes int64) string { return fmt.Sprintf("stored %.0f MB", float64(bytes)/1e6) }

// plain measures a pipeline with the clock of its pod, and also together with the command that follows, if any.
func (b *bench) plain(what, pipeline, after, file string) {
	b.Helper()
	text := b.do("exec", "by-hand", "--", "bash", "-euo", "pipefail", "-c",
		`start=$(date +%s%N); eval "$1"; echo $(($(date +%s%N) - start)); eval "$2"; echo $(($(date +%s%N) - start)); stat -c %s "/backups/$3.zst"`,
		"bash", pipeline, after, file)
	var alone, both time.Duration
	var bytes int64
	if _, err := fmt.Sscan(text, (*int64)(&alone), (*int64)(&both), &bytes); err != nil {
		b.Fatal(text)
	}
	b.figure(what, alone, stored(bytes))
	if after != "" {
		b.figure(what+", sync", both, "")
	}
}

func (b *bench) backups(what, name, destination string) {
	b.Helper()
	b.backup(name, "orders", "deletionPolicy: Delete", "destination: "+destination)
	b.eventually("iB/s", "get", "databasebackup", name, "-o", "jsonpath={.status.rate}")
	b.Log("\n" + b.do("get", "databasebackup", name, "-o", "wide"))
	b.completed(name)
	b.transferred(what, "database.dbcluster.io/backup-uid="+b.of("databasebackup/"+name, "{.metadata.uid}"))
}

func (b *bench) restores(what, source string) {
	b.Helper()
	b.postgres("again", "deletion: {volumes: Delete}", "backup: {destination: "+toS3+", "+given+"}", "bootstrap: {fromBackup: {name: "+source+"}}")
	b.await("again", "Ready")
	b.must(b.psql("again-0", "SELECT count(*) FROM item") == "10000000", "rows are missing")
	b.transferred(what, "app.kubernetes.io/instance=again,app.kubernetes.io/component=restore")
	b.do("delete", "databasecluster", "again", "--timeout="+patience.String())
}

// transferred returns the time and the memory that transfer reports in the pod with these labels.
func (b *bench) transferred(what, labels string) {
	b.Helper()
	pod := b.do("get", "pods", "-l", labels, "-o", "jsonpath={.items[0].metadata.name}")
	text := b.of("pod/"+pod, `{.status.containerStatuses[?(@.name=="action")].state.terminated.message}`)
	result, err := protocol.DecodeResult(text)
	if err != nil {
		b.Fatal(err, text)
	}
	more := stored(result.StoredBytes)
	if last, ok := protocol.ParseProgress(b.do("logs", pod, "-c", "action")); ok && last.PeakMemoryBytes > 0 {
		more += fmt.Sprintf(", transfer's peak memory %d MiB", last.PeakMemoryBytes>>20)
	}
	b.figure(what, result.Completed.Sub(result.Started), more+fmt.Sprintf(", %.1f s of CPU of the S3 server", (b.serverCPU()-b.server).Seconds()))
}

// serverCPU returns the CPU time of the S3 server since its start. The server shares the cores with the transfer. The pipelines use no
// S3 server.
func (b *bench) serverCPU() time.Duration {
	b.Helper()
	text := b.bucket("cat /proc/[0-9]*/stat 2>/dev/null | grep '(versitygw)'")
	_, fields, _ := strings.Cut(text, ") ")
	numbers := strings.Fields(fields)
	b.must(len(numbers) > 12, "no process of the S3 server: %s", text)
	var ticks int64
	for _, number := range numbers[11:13] { // utime and stime of proc_pid_stat(5)
		n, err := strconv.ParseInt(number, 10, 64)
		b.must(err == nil, "unexpected CPU time: %s", text)
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100) // sysconf(_SC_CLK_TCK) of Linux
}
