//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// timeline changes with each failover.
const timeline = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"

// disk is a cluster on volumes that can be full, with a client.
type disk struct {
	world
	// primary, before and timeline are what must not change.
	primary, before, timeline string
	// seen has a line for each second in which the test has looked.
	seen map[int64]look
}

// look is what the test sees at a moment.
type look struct {
	used                        float64
	reason, protection, primary string
}

func (l look) String() string {
	return fmt.Sprintf("%5.1f%%  %-12s  %-10s", l.used, cmp.Or(l.reason, "-"), cmp.Or(l.protection, "-"))
}

// newDisk starts a cluster with more fields of spec.storage, and its client.
func newDisk(t *testing.T, storage string) *disk {
	t.Helper()
	onLocalNode(t, "its StorageClass growing has volumes of a real size, which grow up to 100Gi")
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "storage: {size: 1Gi}", "storage: {size: 1Gi, storageClassName: growing, "+storage+"}")
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.startRowClient()
	w.eventually("EnoughSpace", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.conditions[?(@.type=="DiskPressure")].reason}`)
	d := &disk{world: w, primary: w.primary(), before: w.pods(), seen: map[int64]look{}}
	d.timeline = d.ask("ledger", timeline)
	return d
}

// look looks once.
func (d *disk) look() look {
	d.Helper()
	blocks := strings.Fields(d.do("exec", d.primary, "-c", "database", "--", "stat", "-f", "-c", "%b %a", "/var/lib/database"))
	all, _ := strconv.ParseFloat(blocks[0], 64)
	free, _ := strconv.ParseFloat(blocks[1], 64)
	status := strings.Split(d.do("get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="DiskPressure")].reason}/{.status.storage.protection.state}/{.status.primary}`), "/")
	l := look{used: 100 * (all - free) / all, reason: status[0], protection: status[1], primary: status[2]}
	d.seen[time.Now().Unix()] = l
	return l
}

// until looks each second until something is true, and returns how long that took.
func (d *disk) until(what string, is func(look) bool) time.Duration {
	d.Helper()
	start := time.Now()
	for time.Since(start) < patience {
		if is(d.look()) {
			return time.Since(start)
		}
		time.Sleep(500 * time.Millisecond)
	}
	d.Fatalf("waited %s for %s\n%s", patience, what, d.table())
	return 0
}

func (d *disk) lasts(pause time.Duration) {
	d.Helper()
	end := time.Now().Add(pause)
	d.until("the end of a pause", func(look) bool { return time.Now().After(end) })
}

// fillTo fills the volume of the primary by a file, so that the client does not need long.
func (d *disk) fillTo(percent float64) {
	d.Helper()
	megabytes := int((percent - d.look().used) / 100 * float64(d.megabytes(d.primary)))
	d.do("exec", d.primary, "-c", "database", "--", "sh", "-c", fmt.Sprintf("head -c %dM /dev/zero > /var/lib/database/rubbish", megabytes))
}

// rate lets the client fill the volume, in KiB each second.
func (d *disk) rate(kibibytes int) {
	d.Helper()
	d.do("exec", "client", "--", "sh", "-c", fmt.Sprintf("echo %d > /tmp/rate", kibibytes))
}

// writesAt returns the first second from a moment on in which a commit was acknowledged.
func (d *disk) writesAt(from time.Time) (at time.Time, found bool) {
	d.Helper()
	all := d.moments()
	for _, second := range slices.Sorted(maps.Keys(all)) {
		if second >= from.Unix() && all[second].commits > 0 {
			return time.Unix(second, 0), true
		}
	}
	return at, false
}

// table has a line for each second.
func (d *disk) table() string {
	d.Helper()
	text, now, all := strings.Builder{}, look{}, d.moments()
	text.WriteString("second    used    DiskPressure  protection  commits  errors  first error\n")
	seconds := slices.Sorted(maps.Keys(all))
	for _, second := range seconds {
		if l, looked := d.seen[second]; looked {
			now = l
		}
		line := fmt.Sprintf("%6d  %s  %7d  %6d  %s", second-seconds[0], now, all[second].commits, all[second].errors, all[second].first)
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return text.String()
}

// ends stops the client, prints the table, also to a file in DBC_DISKS, and checks what must be true in any case.
func (d *disk) ends(file string) {
	d.Helper()
	d.stopRowClient()
	table := d.table()
	d.Log("\n" + table)
	if folder := os.Getenv("DBC_DISKS"); folder != "" {
		d.must(os.WriteFile(filepath.Join(folder, file), []byte(table), 0o600) == nil, "%s cannot be written", file)
	}
	for second, l := range d.seen {
		d.must(l.primary == d.primary, "at second %d, the primary was %q", second, l.primary)
		d.must(l.used < 100, "the volume was full")
	}
	d.must(d.ask("ledger", timeline) == d.timeline, "there was a failover")
	d.must(d.pods() == d.before, "members were restarted:\n%s\nbefore:\n%s", d.pods(), d.before)
}

// A volume that may grow does so before it is nearly full, and no client notices that.
func TestAVolumeThatFillsGrowsAndNoClientSeesAnError(t *testing.T) {
	d := newDisk(t, "autoGrow: {limit: 2Gi}")
	d.fillTo(76)
	d.rate(500)
	d.until("a growth", func(l look) bool { return l.reason == "Growing" })
	d.until("enough space", func(l look) bool { return l.reason == "EnoughSpace" })
	d.lasts(5 * time.Second)
	d.ends("disk-that-grows.txt")
	d.must(d.errors() == 0, "the client has seen errors")
	for _, l := range d.seen {
		d.must(l.protection == "" && l.used < 95, "the volume was nearly full: %s", l)
	}
	status := d.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.storage.desired} {.status.storage.capacity} {.status.storage.growth.cause} {.spec.storage.size}")
	d.must(status == "1229Mi 1229Mi Other 1Gi", "the sizes are %s", status)
}

// A volume that may not grow never is full: clients read, and write again when the user has enlarged it.
func TestAVolumeThatFillsIsReadOnlyBeforeItIsFullUntilItHasGrown(t *testing.T) {
	d := newDisk(t, "usage: Measured")
	d.fillTo(82)
	d.rate(300) // the log fills as much as the data
	d.until("the protection", func(l look) bool { return l.protection == "Protected" })
	d.rate(0)
	d.awaitReported("databasecluster/ledger", "DiskPressure", "True", "transactions are read-only, because PersistentVolumeClaim data-"+d.primary, "Raise spec.storage.size, or set spec.storage.autoGrow")
	d.eventually("False WritesRefused transactions are read-only", d.available("ledger")...)
	d.lasts(70 * time.Second) // a measurement from after the beginning of the protection
	d.must(d.ask("ledger", "SET ROLE app; SELECT count(*) > 0 FROM written") == "t", "clients cannot read")

	raised := time.Now()
	d.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"storage":{"size":"2Gi"}}}`)
	d.eventually("2Gi", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.storage.capacity}")
	grown := time.Now()
	d.until("writes", func(look) bool { _, found := d.writesAt(raised.Add(time.Second)); return found })
	at, _ := d.writesAt(raised.Add(time.Second))
	d.Logf("the volumes had grown %s after the request, and writes were back at %s", grown.Sub(raised), at.Sub(raised))
	d.must(at.Sub(grown) < 30*time.Second, "writes were back %s after the growth", at.Sub(grown))
	d.until("enough space", func(l look) bool { return l.reason == "EnoughSpace" && l.protection == "" })
	d.lasts(5 * time.Second)
	d.ends("disk-that-is-protected.txt")
	d.must(d.errors() > 0, "the client has seen no error although its writes were refused")
	for second, m := range d.moments() {
		d.must(second <= at.Unix() || m.errors == 0, "%s after the first commit, the client saw: %s", time.Unix(second, 0).Sub(at), m.first)
	}
}
