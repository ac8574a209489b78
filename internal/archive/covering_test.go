/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"testing"
	"time"
)

func TestATimeThatTheArchiveDoesNotCoverIsRefused(t *testing.T) {
	second := func(n int) time.Time { return time.Date(2026, 11, 27, 20, 0, n, 0, time.UTC) }
	r, names := Resume(nil, nil, false), []string{}
	keep := func(objects []Upload, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			names = append(names, o.Name())
		}
	}
	file := func(name string, until time.Time) {
		t.Helper()
		if !until.IsZero() {
			r.Mark(until)
		}
		keep(r.Whole(name, []byte(name)))
	}
	file("log.1", time.Time{})
	file("log.2", second(10))
	keep(r.Record(Gap, "log.2", 5))
	file("log.4", second(20))
	file("log.5", second(30))
	keep(r.Record(Gap, "log.5", 5))
	file("log.7", time.Time{})

	const missing = "log that follows 2026-11-27T20:00:10Z is missing in the archive. From this backup, choose a time until then, or choose a later backup"
	for what, c := range map[string]struct {
		start string
		until time.Time
		want  string
	}{
		"a time between two marks": {"log.4", second(25), ""},
		"the newest mark":          {"log.5", second(30), ""},
		"the end":                  {"log.7", time.Time{}, ""},
		"in a gap":                 {"log.1", second(15), missing},
		"the end after a gap":      {"log.1", time.Time{}, missing},
		"before any mark":          {"log.7", second(40), "the archive does not record which commits it has after log.7"},
		"a lost backup":            {"log.3", second(15), "the archive does not have log.3, where this backup begins. Choose a backup that began after the archive"},
	} {
		_, err := Read(names).Covering(BaseBackup{Start: c.start}, c.until)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := Read(names[:len(names)-2]).Covering(BaseBackup{Start: "log.4"}, second(31))
	if err == nil || err.Error() != "2026-11-27T20:00:31Z is after 2026-11-27T20:00:30Z, until when the archive has every commit. Choose a time until then" {
		t.Errorf("in the future: %v", err)
	}
}

// A database may know where it is in its log, and not which file has that place.
func TestABackupBeginsInTheLastFileBeforeItsPlace(t *testing.T) {
	r, names := Resume(nil, nil, false), []string{}
	for _, name := range []string{"7-10", "7-20", "gap", "7-40", "9-05", "9-50"} {
		objects, err := r.Whole(name, nil)
		if name == "gap" {
			objects, err = r.Record(Gap, "7-20", 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			names = append(names, o.Name())
		}
	}
	files := Read(names)
	for start, want := range map[string]struct {
		in    int
		begin int64
	}{
		"7-20": {0, 1}, "7-25": {0, 1}, "7-15": {0, 0}, "7-09": {-1, -1}, "7-45": {1, 4}, "9-51": {1, 6}, "8-00": {-1, -1}, "7-10-1": {-1, -1}, "log": {-1, -1},
	} {
		ranges := files.Ranges()
		in, begin := home(ranges, BaseBackup{Start: start})
		if in != want.in || in >= 0 && begin[in] != want.begin {
			t.Errorf("%s is in range %d at %v, want %+v", start, in, begin, want)
		}
	}
}
