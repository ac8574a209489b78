/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// timetable is a cron expression in a time zone. An expression that names hours is meant by the clock on the wall,
// and each of its times comes once: one that the clock skips in spring when the clock is put forward, one that it
// shows twice in autumn the first time. An expression for every hour goes on by the time that passes.
//
// The library is never told of the time zone. By itself it would leave out the times that the clock skips: a
// database that is backed up at half past two would have no backup that day.
type timetable struct {
	spec *cron.SpecSchedule
	zone *time.Location
	// hourly tells that every hour is among the times.
	hourly bool
}

// everyHour are the bits that the library sets for the hours of a day.
const everyHour = 1<<24 - 1

// readTimetable reads what a spec says. The errors are for people.
func readTimetable(expression, zone string, zones map[string]*time.Location) (timetable, error) {
	location, found := zones[zone]
	if !found {
		return timetable{}, fmt.Errorf("timeZone %q is unknown: use a name from the IANA time zone database, for example Europe/Berlin", zone)
	}
	// The library takes a time zone in front, and panics on a bad one.
	if strings.Contains(expression, "=") {
		return timetable{}, fmt.Errorf("cron expression %q is invalid: set the time zone in timeZone", expression)
	}
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return timetable{}, fmt.Errorf("cron expression %q is invalid: %w", expression, err)
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return timetable{}, fmt.Errorf("cron expression %q is invalid: specify times, not an interval", expression)
	}
	spec.Location = time.UTC
	t := timetable{spec: spec, zone: location, hourly: spec.Hour&everyHour == everyHour}
	if spec.Next(reference).IsZero() {
		return timetable{}, fmt.Errorf("cron expression %q matches no date", expression)
	}
	return t, nil
}

// reference is a time from which each day of a calendar comes within the years that the library looks ahead.
var reference = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// next is the first time after another; zero when none comes in the years that the library looks ahead. Between
// two changes of the clock the zone is a fixed offset, and the library counts in that.
func (t timetable) next(after time.Time) time.Time {
	for moment := after; ; {
		local := moment.In(t.zone)
		begin, end := local.ZoneBounds()
		at := t.nextUnder(offset(local), later(after, t.unseenFrom(begin)))
		switch {
		case at.IsZero(), end.IsZero(), at.Before(end):
			return at
		case t.skipped(at, end):
			return end.UTC()
		}
		moment, after = end, justBefore(end)
	}
}

// nextUnder is the first time after another while the zone has an offset.
func (t timetable) nextUnder(offset time.Duration, after time.Time) time.Time {
	wall := t.spec.Next(after.UTC().Add(offset))
	if wall.IsZero() {
		return wall
	}
	return wall.Add(-offset)
}

// skipped tells whether a time of the wall clock is one that the clock skips when it is put forward.
func (t timetable) skipped(at, change time.Time) bool {
	forward := offset(change.In(t.zone)) - offset(justBefore(change).In(t.zone))
	return !t.hourly && at.Before(change.Add(forward))
}

// unseenFrom is just before the moment at which the wall clock shows, after a change, what it has not shown
// before.
func (t timetable) unseenFrom(change time.Time) time.Time {
	if t.hourly || change.IsZero() {
		return time.Time{}
	}
	back := offset(justBefore(change).In(t.zone)) - offset(change.In(t.zone))
	return justBefore(change.Add(max(back, 0)))
}

// last is the newest time after an anchor that has come by now. The work is the same however long ago the anchor
// is: what is searched is how many minutes one has to look back.
func (t timetable) last(anchor, now time.Time) (time.Time, bool) {
	if !anchor.Before(now) {
		return time.Time{}, false
	}
	ago := func(minutes int) time.Time { return later(anchor, now.Add(-time.Duration(minutes)*time.Minute)) }
	all := int(now.Sub(anchor)/time.Minute) + 1
	minutes := sort.Search(all, func(minutes int) bool { return hasCome(t.next(ago(minutes)), now) })
	at := t.next(ago(minutes))
	return at, hasCome(at, now)
}

func hasCome(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

func offset(local time.Time) time.Duration {
	_, seconds := local.Zone()
	return time.Duration(seconds) * time.Second
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func justBefore(t time.Time) time.Time { return t.Add(-time.Nanosecond) }
