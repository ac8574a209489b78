/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func zoneMap(t *testing.T, names ...string) map[string]*time.Location {
	t.Helper()
	all := map[string]*time.Location{"": time.UTC}
	for _, name := range names {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = zone
	}
	return all
}

func timetableOf(t *testing.T, expression, zone string) timetable {
	t.Helper()
	times, err := readTimetable(expression, zone, zoneMap(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestATimetableFollowsLocalTime(t *testing.T) {
	cases := map[string]struct {
		cron, zone, from string
		want             []string
	}{
		"a daily time that the clock skips comes when the clock is put forward": {
			"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"}},
		"a daily time that the clock shows twice comes once": {
			"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"}},
		"also when one looks from between the two": {
			"30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", []string{"2026-10-26T02:30+01:00"}},
		"and from after the change": {
			"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", []string{"2026-10-26T02:30+01:00"}},
		"every hour continues in spring": {
			"30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T01:30+01:00", "2026-03-29T03:30+02:00", "2026-03-29T04:30+02:00"}},
		"every hour continues in autumn": {
			"30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
			[]string{"2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", "2026-10-25T03:30+01:00"}},
		"several skipped times come as one": {
			"*/20 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00"}},
		"a skipped time and the one at the change are one": {
			"30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00"}},
		"midnight can be skipped, too": {
			"0 0 * * *", "America/Havana", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T01:00-04:00", "2026-03-09T00:00-04:00"}},
		"and shown twice": {
			"30 0 * * *", "America/Havana", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T00:30-04:00", "2026-11-02T00:30-05:00"}},
		"a clock may be put forward by half an hour": {
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
			[]string{"2026-10-04T02:30+11:00", "2026-10-05T02:15+11:00"}},
		"a whole day may be skipped": {
			"0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z",
			[]string{"2011-12-29T12:00-10:00", "2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00"}},
		"a yearly time on the day of the change": {
			"30 2 29 3 *", "Europe/Berlin", "2026-01-01T00:00:00Z",
			[]string{"2026-03-29T03:00+02:00", "2027-03-29T02:30+02:00"}},
		"a leap day": {
			"0 0 29 2 *", "Europe/Berlin", "2026-01-01T00:00:00Z",
			[]string{"2028-02-29T00:00+01:00", "2032-02-29T00:00+01:00"}},
		"day of the month or day of the week, as cron has it": {
			"0 0 13 * 5", "", "2026-11-10T00:00:00Z", []string{"2026-11-13T00:00Z", "2026-11-20T00:00Z"}},
		"a word": {"@weekly", "", "2026-11-21T00:00:00Z", []string{"2026-11-22T00:00Z", "2026-11-29T00:00Z"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			times := timetableOf(t, c.cron, c.zone)
			at := instant(t, c.from)
			for _, want := range c.want {
				at = times.next(at)
				if got := at.In(times.zone).Format("2006-01-02T15:04Z07:00"); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestTheLastTimeEqualsAForwardSearchFromTheAnchor(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	tables := []timetable{
		timetableOf(t, "*/7 * * * *", "Europe/Berlin"), timetableOf(t, "30 2 * * *", "Europe/Berlin"),
		timetableOf(t, "15 2,3 * * *", "Australia/Lord_Howe"), timetableOf(t, "0 0 1 * *", "America/Havana"),
		timetableOf(t, "59 23 31 12 *", ""), timetableOf(t, "* 3 * 3,10 *", "Europe/Berlin"),
	}
	start := instant(t, "2026-03-01T00:00:00Z")
	for range 300 {
		times := tables[chance.IntN(len(tables))]
		anchor := start.Add(time.Duration(chance.Int64N(int64(300 * 24 * time.Hour))))
		now := anchor.Add(time.Duration(chance.Int64N(int64(40 * 24 * time.Hour))))
		var want time.Time
		for at := times.next(anchor); !at.After(now); at = times.next(at) {
			want = at
		}
		got, found := times.last(anchor, now)
		if found != !want.IsZero() || found && !got.Equal(want) {
			t.Fatalf("%+v from %s to %s: got %s (%v), want %s", times, anchor, now, got, found, want)
		}
	}
}

func TestTheCostDoesNotDependOnTheAgeOfTheAnchor(t *testing.T) {
	now := instant(t, "2026-11-21T12:00:30Z")
	for _, expression := range []string{"* * * * *", "0 0 29 2 *", "59 23 31 12 *"} {
		times := timetableOf(t, expression, "Europe/Berlin")
		near, _ := times.last(now.AddDate(-5, 0, 0), now)
		far, found := times.last(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), now)
		if !found || !far.Equal(near) {
			t.Errorf("%s: got %s (%v), want %s", expression, far, found, near)
		}
	}
}

func TestAnInvalidTimetableIsRefusedWithTheCause(t *testing.T) {
	cases := map[string]struct{ cron, zone, want string }{
		"nonsense":             {"a b c d e", "", `cron expression "a b c d e" is invalid`},
		"too many fields":      {"0 0 1 1 1 1", "", "expected exactly 5 fields"},
		"out of range":         {"61 * * * *", "", "above maximum"},
		"step of none":         {"*/0 * * * *", "", "step of range should be a positive number"},
		"a day that is not":    {"0 0 30 2 *", "", "matches no date"},
		"an interval":          {"@every 1h", "", "specify times, not an interval"},
		"a zone in front":      {"TZ=Europe/Berlin 0 0 * * *", "", "set the time zone in timeZone"},
		"a zone and nothing":   {"TZ=", "", "set the time zone in timeZone"},
		"a zone that is not":   {"0 0 * * *", "Europe/Atlantis", `timeZone "Europe/Atlantis" is unknown`},
		"the zone of the node": {"0 0 * * *", "Local", `timeZone "Local" is unknown`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readTimetable(c.cron, c.zone, zoneMap(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Cron counts Sunday as 0 and as 7.
func TestWeekdaySevenIsSunday(t *testing.T) {
	for seven, zero := range map[string]string{
		"7": "0", "1-7": "*", "5-7": "5,6,0", "6-7,3": "6,0,3", "0-7/2": "0,2,4,6", "1-7/3": "1,4,0", "7-7": "0", "3,7": "3,0", "7/2": "0",
	} {
		after := instant(t, "2026-11-21T12:00:30Z")
		want, got := timetableOf(t, "0 3 * * "+zero, ""), timetableOf(t, "0 3 * * "+seven, "")
		for range 10 {
			a, b := want.next(after), got.next(after)
			if !a.Equal(b) {
				t.Errorf("%s: next after %s is %s, want %s", seven, after, b, a)
			}
			after = a
		}
	}
}

func FuzzNoExpressionTakesTheOperatorDown(f *testing.F) {
	for _, seed := range []string{"30 3 * * *", "*/5 1-3,7 ? jan-mar mon", "@daily", "@every 1s", "TZ=", "CRON_TZ=UTC", "*/18446744073709551615 * * * *"} {
		f.Add(seed)
	}
	zones := map[string]*time.Location{"": time.UTC}
	f.Fuzz(func(t *testing.T, expression string) {
		times, err := readTimetable(expression, "", zones)
		if err != nil {
			return
		}
		now := reference.AddDate(6, 0, 0)
		if at := times.next(now); !at.After(now) && !at.IsZero() {
			t.Errorf("%q: %s comes after %s", expression, at, now)
		}
	})
}
