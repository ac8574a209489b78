//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// transfer may reply about log before a gap after the action has sent the gap. Another server can have other log at the same place.
func TestAnArchiveOfPostgreSQLDoesNotTakeLogBeforeAGapForStored(t *testing.T) {
	for _, engine := range []string{"postgresql-v1", single} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			file := p.ask(first.port, "SELECT system_identifier || '-' || pg_walfile_name(pg_current_wal_lsn()) FROM pg_control_system()")
			a := w.act(p, first, "last "+file+" 100000 open 0123456789abcdef")
			if got, _ := a.frames.ReadString('\n'); got != "gap "+file+" 100000\n" {
				t.Fatalf("the action sends %q: %s", got, &a.said)
			}
			a.sends(file, 0)
			slot := "SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = 'dbc_archive'"
			kept := p.ask(first.port, slot)
			begin, beginAt := p.ends(first, file)
			p.ask(first.port, "INSERT INTO row SELECT n FROM generate_series(1, 1000) n")
			_, endAt := p.ends(first, file)
			a.sends(file, endAt)
			fmt.Fprintf(a.replies, "durable %[1]s %[2]d\ngap %[1]s 100000\ndurable %[1]s %[3]d\n", file, endAt, beginAt)
			got := kept
			for deadline := time.Now().Add(time.Minute); got == kept && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				got = p.ask(first.port, slot)
			}
			if got != begin {
				t.Errorf("the slot keeps the log from %s, and only the log until %s is stored: %s", got, begin, &a.said)
			}
			_ = a.cmd.Cancel()
			_ = a.cmd.Wait() // it was killed
		})
	}
}

// ends is where the log of a server ends, and the place in its file.
func (p postgresql) ends(m member, file string) (position string, offset int64) {
	p.t.Helper()
	p.ask(m.port, "CREATE TABLE IF NOT EXISTS later (); DROP TABLE later")
	var name string
	text := p.ask(m.port, "SELECT lsn || ' ' || file_name || ' ' || file_offset FROM pg_current_wal_flush_lsn() lsn, pg_walfile_name_offset(lsn)")
	if _, err := fmt.Sscan(text, &position, &name, &offset); err != nil || !strings.HasSuffix(file, name) {
		p.t.Fatalf("the log ends at %s, %v", text, err)
	}
	return position, offset
}

// sends waits for a file up to an offset.
func (a *acting) sends(file string, end int64) {
	a.t.Helper()
	for {
		line, err := a.frames.ReadString('\n')
		if err != nil {
			a.t.Fatalf("%v: %s", err, &a.said)
		}
		var name string
		var offset, length int64
		if n, _ := fmt.Sscanf(line, "data %s %d %d", &name, &offset, &length); n < 3 {
			continue
		}
		if _, err := io.CopyN(io.Discard, a.frames, length); err != nil {
			a.t.Fatal(err)
		}
		if name == file && offset+length >= end {
			return
		}
	}
}
