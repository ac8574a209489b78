/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"fmt"
	"testing"
	"time"
)

func TestATimeThatTheArchiveDoesNotCoverIsRefused(t *testing.T) {
	second := func(n int) time.Time { return time.Date(2026, 11, 27, 20, 0, n, 0, time.UTC) }
	r, names := Resume(nil, nil, false, time.Time{}), []string{}
	keep := storing(t, &names)
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
	r, names := Resume(nil, nil, false, time.Time{}), []string{}
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

// A volume came back from a snapshot, and the database writes other log into files of the same names.
func TestABackupIsOfTheRangeThatHasItsEnd(t *testing.T) {
	minute := func(n int) time.Time { return time.Date(2026, 11, 27, 12, n, 0, 0, time.UTC) }
	r, names := Resume(nil, nil, false, time.Time{}), []string{}
	for _, f := range []struct {
		name  string
		until int
	}{{"log.1", 1}, {"log.2", 2}, {"log.3", 6}, {"log.4", 20}, {"gap", 0}, {"log.2", 21}, {"log.3", 29}, {"log.4", 35}, {"log.5", 40}} {
		var objects []Upload
		var err error
		if f.name == "gap" {
			objects, err = r.Record(Gap, "log.4", 5)
		} else {
			r.Mark(minute(f.until))
			objects, err = r.Whole(f.name, []byte(f.name))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			names = append(names, o.Name())
		}
	}
	for what, c := range map[string]struct {
		start string
		ended int
		want  int
	}{
		"before the snapshot":                     {"log.3", 5, 0},
		"before it, in the first file after it":   {"log.2", 5, 0},
		"after it":                                {"log.3", 30, 1},
		"after it, by a clock that is behind":     {"log.4", 25, 1},
		"after it, and its end is not stored yet": {"log.5", 50, 1},
		"by a clock that is far ahead":            {"log.3", 59, 1},
		"only the first range has the file":       {"log.1", 59, 0},
	} {
		if in, _ := home(Read(names).Ranges(), BaseBackup{Start: c.start, Ended: minute(c.ended)}); in != c.want {
			t.Errorf("%s: it is of range %d, want %d", what, in, c.want)
		}
	}
}

// A recovery would stop at the first commit after the time, and lack those that were committed before it by the other clock.
func TestATimeThatTheLogHasTwiceIsRefused(t *testing.T) {
	second := func(n int) time.Time { return time.Date(2026, 11, 27, 20, 0, n, 0, time.UTC) }
	r, names := Resume(nil, nil, false, time.Time{}), []string{}
	for n, until := range []int{10, 30, 20, 25, 28, 35, 33, 40} {
		r.Mark(second(until))
		objects, err := r.Whole("log."+string(rune('a'+n)), []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, objects[0].Name())
	}
	files := Read(names)
	for until, refused := range map[int]bool{15: false, 20: true, 25: true, 29: true, 30: false, 34: false, 40: false} {
		if _, err := files.Covering(BaseBackup{Start: "log.a"}, second(until)); (err != nil) != refused {
			t.Errorf("%d: %v", until, err)
		}
	}
	_, err := files.Covering(BaseBackup{Start: "log.a"}, second(21))
	if want := "the log has 2026-11-27T20:00:21Z twice, because a clock of the database was set back from 2026-11-27T20:00:30Z to 2026-11-27T20:00:20Z. Choose a time before or after these"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if _, err := files.Covering(BaseBackup{Start: "log.d"}, second(26)); err != nil {
		t.Errorf("a backup after that: %v", err)
	}
}

// The bucket is emptied. The archive begins again, and then the bucket has its previous objects, too: versions were restored.
func TestAnArchiveThatComesBackIsNotMixedWithTheOneAfterIt(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	var names []string
	write := func(first, files int) {
		r := Resume(nil, nil, false, now)
		for i := range files {
			now = now.Add(5 * time.Minute)
			r.Mark(now)
			objects, err := r.Whole(fmt.Sprintf("log.%03d", first+i), []byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, objects[0].Name())
		}
	}
	write(0, 20)
	before := BaseBackup{ID: "before", Start: "log.005", Ended: now.Add(-time.Hour), Trusted: true}
	lost := now
	now = now.Add(time.Hour)
	write(50, 40)
	files := Read(names)
	if _, err := files.Covering(before, lost); err != nil {
		t.Errorf("until the loss: %v", err)
	}
	if _, err := files.Covering(before, now); err == nil {
		t.Error("the log from log.020 to log.049 is missing, and the archive does not know it")
	}
	last, found := files.Last()
	if !found || last.Name != "log.089" {
		t.Errorf("the archive ends with %+v", last)
	}
}

// Uploads run at the same time, so an archive may lack its first file when the next process begins.
func TestAnArchiveBeginsAgainWithTheNumberOfTheFileThatItLacks(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 59, 0, 0, time.UTC)
	first, second := numberOf(t, nil, now), numberOf(t, nil, now.Add(time.Hour))
	if second <= first+1000 {
		t.Errorf("an hour later, an archive begins with %d after %d", second, first)
	}
	left := Read([]string{Piece{Sequence: first + 1, File: "log.1", Before: Nothing, After: Nothing, Kind: Tail}.Name()})
	if got := numberOf(t, left, now.Add(time.Hour)); got != first {
		t.Errorf("the archive begins again with %d, and not with %d", got, first)
	}
}

// numberOf is the number of the next file.
func numberOf(t *testing.T, files Listing, now time.Time) int64 {
	t.Helper()
	objects, err := Resume(files, nil, false, now).Whole("log.0", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].Sequence
}
