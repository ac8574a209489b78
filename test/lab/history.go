/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ID is a row of the table of the writers.
type ID struct {
	Writer string
	Number int
}

// Commit is a row that a database has, and when it was committed.
type Commit struct {
	ID
	At time.Time
}

// History is the rows that a database has now, and when clients got the acknowledgments.
type History struct {
	Commits      []Commit
	Acknowledged map[ID]time.Time
}

// inDoubt is how much a commit can be in the log after its time. PostgreSQL determines the time first, and the machine is busy.
const inDoubt = time.Second

// Until are the rows that a recovery until a moment has. Those in doubt may be missing: PostgreSQL replays the log until the first commit
// after the moment, and the commit of another client may be in the log before one with an earlier time.
func (h *History) Until(moment time.Time) (rows, doubtful map[ID]bool) {
	rows, doubtful = map[ID]bool{}, map[ID]bool{}
	next := map[string]time.Time{} // the first commit of each writer after the moment
	for _, commit := range h.Commits {
		if at, has := next[commit.Writer]; commit.At.After(moment) && (!has || commit.At.Before(at)) {
			next[commit.Writer] = commit.At
		}
	}
	for _, commit := range h.Commits {
		if commit.At.After(moment) {
			continue
		}
		rows[commit.ID] = true
		if moment.Sub(commit.At) < inDoubt && h.overtaken(commit, next) {
			doubtful[commit.ID] = true
		}
	}
	return rows, doubtful
}

// overtaken reports whether another writer may have committed between the time of a commit and its place in the log.
func (h *History) overtaken(commit Commit, next map[string]time.Time) bool {
	end, has := h.Acknowledged[commit.ID]
	if !has {
		end = commit.At.Add(inDoubt)
	}
	for writer, at := range next {
		if writer != commit.Writer && at.Before(end) {
			return true
		}
	}
	return false
}

// Compare returns the rows that a recovery until a moment lacks, and those that it has too many.
func (h *History) Compare(moment time.Time, restored map[string]Spans) (missing, surplus []ID) {
	want, doubtful := h.Until(moment)
	has := rowsOf(restored)
	for id := range want {
		if !has[id] && !doubtful[id] {
			missing = append(missing, id)
		}
	}
	for id := range has {
		if !want[id] {
			surplus = append(surplus, id)
		}
	}
	return missing, surplus
}

// Loss is what the clients would have lost with all volumes.
type Loss struct {
	// NewestMoment is the age of the newest moment until which the bucket had every commit, and NewestRow that of the newest row of the
	// writer whose rows were the oldest. Both in seconds.
	NewestMoment float64 `json:"newestMomentSeconds"`
	NewestRow    float64 `json:"newestRowSeconds"`
	// Older are the missing rows that were acknowledged earlier than the lag of the archive before.
	Older int `json:"missingOlderThanLag"`
	// Holes are the missing rows that are older than a row of the same writer which is there.
	Holes int `json:"holes"`
}

// LossAt compares the rows in a bucket with those that were acknowledged until a moment.
func (h *History) LossAt(s Snapshot, restored map[string]Spans, lag time.Duration) Loss {
	has, newest := rowsOf(restored), map[string]int{}
	for id := range has {
		newest[id.Writer] = max(newest[id.Writer], id.Number)
	}
	loss, last := Loss{NewestMoment: s.At.Sub(s.Newest).Seconds()}, map[string]time.Time{}
	for id, at := range h.Acknowledged {
		switch {
		case at.After(s.At):
		case has[id]:
			last[id.Writer] = Latest(last[id.Writer], at)
		default:
			if id.Number < newest[id.Writer] {
				loss.Holes++
			}
			if s.At.Sub(at) > lag {
				loss.Older++
			}
		}
	}
	for _, at := range last {
		loss.NewestRow = max(loss.NewestRow, s.At.Sub(at).Seconds())
	}
	return loss
}

func rowsOf(writers map[string]Spans) map[ID]bool {
	rows := map[ID]bool{}
	for writer, spans := range writers {
		for _, span := range spans {
			for number := span[0]; number <= span[1]; number++ {
				rows[ID{writer, number}] = true
			}
		}
	}
	return rows
}

// parseWriters reads lines such as writers-hosts 3-17.
func parseWriters(text string) (map[string]Spans, error) {
	all := map[string]Spans{}
	for line := range strings.Lines(text) {
		writer, span, _ := strings.Cut(strings.TrimSpace(line), " ")
		spans, err := parseSpans(span)
		if err != nil {
			return nil, err
		}
		all[writer] = append(all[writer], spans...)
	}
	return all, nil
}

// Commits returns the rows that a member has, the first commit first. It needs the parameter track_commit_timestamp.
func (d *Database) Commits(ctx context.Context, member string) ([]Commit, error) {
	text, err := d.SQL(ctx, member, `SELECT writer || ' ' || number || ' ' || (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint
		FROM written ORDER BY pg_xact_commit_timestamp(xmin)`)
	if err != nil {
		return nil, err
	}
	return parseCommits(text)
}

// History returns the rows that a member has, beside those that were acknowledged to the writers.
func (w *Writers) History(ctx context.Context, member string, acknowledged map[string][]Row) (h History, err error) {
	h.Acknowledged = map[ID]time.Time{}
	for way, rows := range acknowledged {
		for _, row := range rows {
			h.Acknowledged[ID{w.writer(way), row.Number}] = row.At
		}
	}
	h.Commits, err = w.Commits(ctx, member)
	return h, err
}

func parseCommits(text string) (all []Commit, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, fmt.Errorf("the database returned %q: a row without the time of its commit", line)
		}
		number, err := strconv.Atoi(words[1])
		micros, problem := strconv.ParseInt(words[2], 10, 64)
		if err != nil || problem != nil {
			return nil, fmt.Errorf("the database returned %q", line)
		}
		all = append(all, Commit{ID{words[0], number}, time.UnixMicro(micros)})
	}
	return slices.Clip(all), nil
}

// seconds reads a time such as 1764352800.123456789.
func seconds(text string) (time.Time, error) {
	value, is := new(big.Rat).SetString(strings.TrimSpace(text))
	if !is {
		return time.Time{}, fmt.Errorf("%q is no time in seconds", text)
	}
	nanos := value.Mul(value, big.NewRat(int64(time.Second), 1))
	return time.Unix(0, nanos.Num().Int64()/nanos.Denom().Int64()), nil
}
