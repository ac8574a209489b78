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
		"a lost backup":            {"log.3", second(15), "the archive has no file log.3, in which this backup begins. Choose a backup that began after the archive"},
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
