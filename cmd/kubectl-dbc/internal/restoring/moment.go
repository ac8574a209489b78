/*
SPDX-License-Identifier: Apache-2.0
*/

// Package restoring chooses the backup and the moment of a restore, and describes both before it begins.
package restoring

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Moment is the moment of a restore. The zero value is the data of a backup.
type Moment struct {
	// At is the moment in the archive; zero for the end of the archive or for none.
	At time.Time
	// Latest is true for the end of the archive.
	Latest bool
}

// layouts are the forms of a moment besides RFC 3339, a time of day and a duration.
var layouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

// ParseMoment reads a moment: RFC 3339, a date with a time, a time of day, a duration before now, or "latest". Without a time zone, it
// is of the zone of now.
func ParseMoment(text string, now time.Time) (Moment, error) {
	switch text {
	case "":
		return Moment{}, nil
	case "latest":
		return Moment{Latest: true}, nil
	}
	at, understood := moment(text, now)
	switch {
	case !understood:
		return Moment{}, fmt.Errorf("--at %q is no time: use RFC 3339 such as 2026-11-21T14:05:00Z, a time of day such as 14:05, 10m for ten "+
			"minutes ago, or latest", text)
	case at.After(now):
		return Moment{}, fmt.Errorf("--at %s is in the future: it is %s now", text, now.Format(time.RFC3339))
	}
	return Moment{At: at.Truncate(time.Second).UTC()}, nil
}

func moment(text string, now time.Time) (at time.Time, understood bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if clock, err := time.Parse(layout, text); err == nil {
			return latest(clock, now), true
		}
	}
	if d, err := ago(text); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	return time.Time{}, false
}

// latest is the last moment before now with a time of day.
func latest(clock, now time.Time) time.Time {
	year, month, day := now.Date()
	at := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
	if at.After(now) {
		at = time.Date(year, month, day-1, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
	}
	return at
}

// ago reads a duration, which may have days: "1d", "90m", "1h30m".
func ago(text string) (time.Duration, error) {
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || rest == "" {
			return time.Duration(n) * 24 * time.Hour, err
		}
		d, err := time.ParseDuration(rest)
		return time.Duration(n)*24*time.Hour + d, err
	}
	return time.ParseDuration(text)
}

// target is the moment in a manifest.
func (m Moment) target() *dbv1.RecoveryTarget {
	switch {
	case m.Latest:
		return &dbv1.RecoveryTarget{}
	case m.At.IsZero():
		return nil
	default:
		return &dbv1.RecoveryTarget{Time: m.At.UTC().Format(time.RFC3339)}
	}
}

// inArchive reports whether the moment needs the archive.
func (m Moment) inArchive() bool { return m.Latest || !m.At.IsZero() }
