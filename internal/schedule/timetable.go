/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// timetable is a cron expression in a time zone. An expression that names hours follows local time, and each of its times occurs
// once. A time that is skipped when clocks go forward still occurs; a time that occurs twice when clocks go back counts the first time.
// An expression for every hour follows elapsed time.
//
// The library never receives the time zone. It would leave out the skipped times: a database with a backup at 02:30 would have none
// on that day.
type timetable struct {
	spec *cron.SpecSchedule
	zone *time.Location
	// hourly is true if the expression matches every hour.
	hourly bool
}

// everyHour are the bits that the library sets for the hours of a day.
const everyHour = 1<<24 - 1

// readTimetable parses a schedule. Its errors are shown to users.
func readTimetable(expression, zone string, zones map[string]*time.Location) (timetable, error) {
	location, found := zones[zone]
	if !found {
		return timetable{}, fmt.Errorf("timeZone %q is unknown: use a name from the IANA time zone database, for example Europe/Berlin", zone)
	}
	// The library takes a time zone in front, and panics on a bad one.
	if strings.Contains(expression, "=") {
		return timetable{}, fmt.Errorf("cron expression %q is invalid: set the time zone in timeZone", expression)
	}
	schedule, err := cron.ParseStandard(withSundays(expression))
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

// weekdaysToSeven is a weekday, or a range of them, that ends with 7.
var weekdaysToSeven = regexp.MustCompile(`^(?:([0-7])-)?7(?:/([1-9][0-9]*))?$`)

// withSundays replaces weekday 7, which is Sunday as in cron, by 0: the library knows only that.
func withSundays(expression string) string {
	fields := strings.Fields(expression)
	if len(fields) != 5 {
		return expression
	}
	parts := strings.Split(fields[4], ",")
	for i, part := range parts {
		if found := weekdaysToSeven.FindStringSubmatch(part); found != nil {
			parts[i] = weekdays(found[1], found[2])
		}
	}
	fields[4] = strings.Join(parts, ",")
	return strings.Join(fields, " ")
}

// weekdays lists the weekdays from one to 7, in steps.
func weekdays(first, step string) string {
	from, by := 7, 1
	if first != "" {
		from = int(first[0] - '0')
	}
	if number, err := strconv.Atoi(step); err == nil {
		by = number
	}
	var all []string
	for day := from; day <= 7; day += by {
		all = append(all, strconv.Itoa(day%7))
	}
	return strings.Join(all, ",")
}

// reference is a time from which every calendar date occurs within the years that the library searches.
var reference = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// next returns the first time after another; zero if none occurs in the years that the library searches. Between two changes of the
// offset, the library computes with a fixed offset.
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

// nextUnder returns the first time after another while the zone has an offset.
func (t timetable) nextUnder(offset time.Duration, after time.Time) time.Time {
	wall := t.spec.Next(after.UTC().Add(offset))
	if wall.IsZero() {
		return wall
	}
	return wall.Add(-offset)
}

// skipped reports whether a local time is skipped when clocks go forward.
func (t timetable) skipped(at, change time.Time) bool {
	forward := offset(change.In(t.zone)) - offset(justBefore(change).In(t.zone))
	return !t.hourly && at.Before(change.Add(forward))
}

// unseenFrom is just before the moment at which local time, after a change of the offset, shows a new time.
func (t timetable) unseenFrom(change time.Time) time.Time {
	if t.hourly || change.IsZero() {
		return time.Time{}
	}
	back := offset(justBefore(change).In(t.zone)) - offset(change.In(t.zone))
	return justBefore(change.Add(max(back, 0)))
}

// last returns the newest time after an anchor that has passed. The cost does not depend on the age of the anchor: it searches
// backwards in minutes.
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
