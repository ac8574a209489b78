//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// repeated are backups and restores of one database: one storing everything, the other what has changed.
type repeated struct {
	*world
	p     postgresql
	port  string
	store protocol.Store
	times map[string][]time.Duration
	last  map[string]outcome
}

func (r *repeated) at(kind string, n int) string { return fmt.Sprintf("%s-%s-%d", r.location, kind, n) }

// measure runs a call and records its time.
func (r *repeated) measure(what string, call protocol.Call) {
	began := time.Now()
	cmd, finish := r.command(r.t.Context(), protocol.Args(call)...)
	cmd.Env = append(cmd.Env, "PATH="+r.p.programs+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.last[what] = r.must(finish())
	r.times[what] = append(r.times[what], time.Since(began))
}

// save creates a backup by the command of the engine's script.
func (r *repeated) save(kind string, n int, reuse string) {
	call := &protocol.Backup{
		To: r.at(kind, n), ID: fmt.Sprint(kind, n), Complete: true, Store: r.store, Index: kind == "Reuse", Reuse: reuse,
		Command: []string{"pg_basebackup", "--username=replicator", "--no-password", "--pgdata=-", "--format=tar", "--wal-method=fetch",
			"--checkpoint=fast", "--manifest-checksums=CRC32C", "--host=127.0.0.1", "--port=" + r.port},
	}
	r.measure(fmt.Sprintf("backup %d, %s", n, kind), call)
}

func (r *repeated) load(kind string, n int) {
	call := &protocol.Restore{From: r.at(kind, n), ID: "new", Into: r.t.TempDir(), Store: r.store, Command: []string{"sh", "-c", "cat > /dev/null"}}
	what := fmt.Sprintf("restore %d, %s", n, kind)
	r.measure(what, call)
	if made := r.last[fmt.Sprintf("backup %d, %s", n, kind)]; r.last[what].SHA256 != made.SHA256 {
		r.t.Errorf("%s is %+v, not %+v", what, r.last[what].Result, made.Result)
	}
}

// With DBC_REPEAT_GIB, this measures what `make bench-repeat` prints: backups of PostgreSQL to a real S3 server, with 1% of the pages changed
// between them.
func TestMeasureASecondBackup(t *testing.T) {
	gib, err := strconv.ParseFloat(os.Getenv("DBC_REPEAT_GIB"), 64)
	if err != nil {
		t.Skip("DBC_REPEAT_GIB is not set to a number of GiB")
	}
	w := newWorld(t)
	r := &repeated{world: w, p: newPostgreSQL(t, single), store: w.store(), times: map[string][]time.Duration{}, last: map[string]outcome{}}
	first := r.p.first()
	r.port = first.port
	rows := int64(gib * (1 << 30) / 580)
	r.p.ask(r.port, fmt.Sprintf(`CREATE TABLE data (n bigint, text text) WITH (fillfactor=85); INSERT INTO data SELECT n, 'name=' || n ||
		';state=open;city=Berlin;' || (SELECT string_agg(md5((n * 20 + i)::text), '-') FROM generate_series(1, 14) i) FROM generate_series(1, %d) n`, rows))
	r.p.ask(r.port, "VACUUM (FREEZE, ANALYZE) data")
	r.p.ask(r.port, "CHECKPOINT")
	for _, kind := range []string{"Store", "Reuse"} {
		r.save(kind, 1, "")
	}
	r.p.ask(r.port, fmt.Sprintf(`UPDATE data SET text = md5(n::text) || substr(text, 33) WHERE n IN (SELECT 1 + (random() * %d)::bigint
		FROM generate_series(1, (SELECT relpages / 100 FROM pg_class WHERE relname = 'data')))`, rows))
	r.p.ask(r.port, "CHECKPOINT")
	r.p.ask(r.port, "SELECT pg_switch_wal()")
	for _, kind := range []string{"Store", "Reuse"} {
		r.save(kind, 2, map[string]string{"Reuse": r.at("Reuse", 1)}[kind])
	}
	for range 3 {
		r.load("Store", 2)
		r.load("Reuse", 2)
	}
	r.print()
	if first, second := r.last["backup 1, Reuse"], r.last["backup 2, Reuse"]; second.StoredBytes > first.StoredBytes/10 {
		t.Errorf("the second backup stored %d bytes, the first one %d", second.StoredBytes, first.StoredBytes)
	}
}

// print prints a table in Markdown.
func (r *repeated) print() {
	fmt.Println("| what | data, MiB | stored, MiB | seconds | memory, MiB |\n|---|---|---|---|---|")
	var names []string
	for name := range r.times {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare)
	for _, name := range names {
		o, times := r.last[name], slices.Sorted(slices.Values(r.times[name]))
		stored := "-"
		if o.StoredBytes > 0 {
			stored = fmt.Sprintf("%.1f", float64(o.StoredBytes)/(1<<20))
		}
		fmt.Printf("| %s | %d | %s | %.1f | %d |\n", name, o.Bytes>>20, stored, times[len(times)/2].Seconds(), o.peak>>20)
	}
}
