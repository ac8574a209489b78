//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// measured are the engines with the action, and the scripts that the action reads.
var measured = map[string][]string{
	"postgresql-v1":        {"measure", "measure.sql", "common.py"},
	"postgresql-single-v1": {"measure", "measure.sql", "common"},
}

// volume is what the action prints.
type volume struct {
	Data, Log, Temporary int64
	KeptFor              *dbv1.LogKeeper
}

// measures is the action of an engine for a server of the cluster my-db.
func measures(d *database, engine string) (v volume) {
	d.t.Helper()
	printed, err := d.commandOf(engine, "measure", measured[engine]).Output()
	if err == nil {
		err = json.Unmarshal(printed, &v)
	}
	if err != nil {
		d.t.Fatalf("%v: %s", err, printed)
	}
	return v
}

// writesLog lets a server write six segments of the log.
func (d *database) writesLog() {
	for range 6 {
		d.ask("postgres", "CREATE TABLE IF NOT EXISTS filler (id int); INSERT INTO filler VALUES (1); SELECT pg_switch_wal()")
	}
}

func TestTheActionMeasureNamesWhatFillsTheVolumeOfAPostgreSQL(t *testing.T) {
	const segment = 16 << 20
	for _, engine := range slices.Sorted(maps.Keys(measured)) {
		t.Run(engine, func(t *testing.T) {
			d := newDatabase(t, engine)
			if v := measures(d, engine); v.Data < 1<<20 || v.Log < segment || v.Temporary != 0 || v.KeptFor != nil {
				t.Errorf("an empty server: %+v", v)
			}
			for _, c := range []struct{ slot, kind, want, name string }{
				{"my_db_1", "physical", "Member", "my-db-1"},
				{"my_db_backup", "physical", "Slot", "my_db_backup"},
				{"dbc_archive", "physical", "Archive", ""},
			} {
				d.ask("postgres", "SELECT pg_create_physical_replication_slot('"+c.slot+"', true)")
				d.writesLog()
				from := d.ask("postgres", "SELECT restart_lsn FROM pg_replication_slots")
				v := measures(d, engine)
				if k := v.KeptFor; v.Log < 6*segment || k == nil || *k != (dbv1.LogKeeper{Type: dbv1.LogKeeperType(c.want), Name: c.name, From: from}) {
					t.Errorf("slot %s: %+v %+v", c.slot, v, k)
				}
				d.ask("postgres", "SELECT pg_replication_slot_advance('"+c.slot+"', pg_current_wal_lsn())")
				if k := measures(d, engine).KeptFor; k != nil {
					t.Errorf("slot %s that has read: %+v", c.slot, k)
				}
				d.ask("postgres", "SELECT pg_drop_replication_slot('"+c.slot+"'); CHECKPOINT")
			}
			before := measures(d, engine)
			files := filepath.Join(d.folder, "data/base/pgsql_tmp")
			write(t, files, map[string]string{"pgsql_tmp1.0": strings.Repeat("x", 1000)})
			write(t, filepath.Join(files, "pgsql_tmp1.1.sharedset"), map[string]string{"o0of1.p0.0": strings.Repeat("x", 2000)})
			for _, name := range []string{".", "pgsql_tmp1.0", "pgsql_tmp1.1.sharedset", "pgsql_tmp1.1.sharedset/o0of1.p0.0"} {
				if err := os.Chown(filepath.Join(files, name), 65534, 65534); os.Geteuid() == 0 && err != nil {
					t.Fatal(err)
				}
			}
			if after := measures(d, engine); after.Temporary != before.Temporary+3000 || after.Data != before.Data {
				t.Errorf("temporary files: %+v, before %+v", after, before)
			}
		})
	}
}

func TestSegmentsThatAnArchiveCommandDoesNotStoreAreKeptForTheArchive(t *testing.T) {
	d := newDatabase(t, "postgresql-single-v1")
	d.ask("postgres", "ALTER SYSTEM SET archive_mode = on; ALTER SYSTEM SET archive_command = 'false'")
	d.do("", "pg_ctl", "-D", "data", "-w", "-l", "log-data", "-m", "fast", "restart")
	d.writesLog()
	if k := measures(d, "postgresql-single-v1").KeptFor; k == nil || k.Type != dbv1.KeptForArchive || !strings.HasPrefix(k.From, "000000010000000000000") {
		t.Errorf("got %+v", k)
	}
}
