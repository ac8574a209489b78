//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// compare recovers random moments, and the end of the archive as it was at the beginning of the fault.
func (w *world) compare(f archiveFault, result *lab.ArchiveResult) {
	p := w.archived.past
	if len(p.bases) == 0 {
		return // the fault did not happen, which is a problem already
	}
	restorer, err := w.NewRestorer(w.Context(), w.archived.bucket, fmt.Sprintf("%s-restorer%d", w.Cluster.Name, w.number))
	w.must(err, "create a restorer")
	p.history, err = w.history(w.acknowledged)
	w.must(err, "read the rows")
	w.note(&result.Result, w.loss(restorer, result), "the archive at the beginning of the fault")
	w.recoverMoments(restorer, p, result)
	if f.check != nil {
		f.check(w, restorer, result)
	}
	w.must(restorer.Remove(w.Context()), "remove the restorer")
}

// history returns the rows that the cluster has.
func (w *world) history(acknowledged map[string][]lab.Row) (lab.History, error) {
	primary, err := w.primary()
	if err != nil {
		return lab.History{}, err
	}
	return w.writers.History(w.Context(), primary.Name, acknowledged)
}

// loss measures what a loss of all volumes would have cost at the beginning of the fault.
func (w *world) loss(r *lab.Restorer, result *lab.ArchiveResult) error {
	p := w.archived.past
	if w.archived.previous != nil {
		p = w.archived.previous
	}
	rows, err := r.Recover(w.Context(), p.bases[0], p.before.URL, "")
	if err != nil {
		return err
	}
	result.Loss = p.history.LossAt(p.before, rows, maxLag*time.Second)
	if result.Loss.Holes > 0 {
		err = fmt.Errorf("%d rows are missing although later ones are there", result.Loss.Holes)
	}
	if newest := result.Loss.NewestMoment; newest > promised.Seconds() {
		err = errors.Join(err, fmt.Errorf("the newest moment was %.1f s old, and the condition promises %v", newest, promised))
	}
	_, problem := w.archived.bucket.Shell(w.Context(), p.before.URL, "rm -rf ./*")
	return errors.Join(err, problem)
}

// recoverMoments recovers random moments. A refused one does not count, so others follow, but not without end.
func (w *world) recoverMoments(r *lab.Restorer, p *past, result *lab.ArchiveResult) {
	wanted := result.Moments.Restored + moments
	for n := 0; result.Moments.Restored < wanted && n < 10*moments; n++ {
		w.recoverMoment(r, p, w.momentOf(p, n, &result.Result), result)
	}
	if result.Moments.Restored < wanted {
		result.Problems = append(result.Problems, fmt.Sprintf("only %d of %d moments were recovered", result.Moments.Restored, wanted))
	}
}

// momentOf selects a moment: every other one is near the fault.
func (w *world) momentOf(p *past, n int, result *lab.Result) time.Time {
	since, until := p.bases[0].Ended, p.until
	if recovered := result.Time.Add(time.Duration(result.Recovered * float64(time.Second))); n%2 == 1 {
		since, until = lab.Latest(since, result.Time.Add(-calm)), lab.Earliest(until, recovered.Add(calm))
	}
	if !until.After(since) {
		since, until = p.bases[0].Ended, p.until
	}
	moment := since.Add(time.Duration(w.random.Int64N(int64(until.Sub(since)))))
	return lab.Latest(moment.UTC().Truncate(time.Microsecond), p.bases[0].Ended)
}

// recoverMoment recovers a moment, and compares its rows.
func (w *world) recoverMoment(r *lab.Restorer, p *past, moment time.Time, result *lab.ArchiveResult) {
	began := time.Now()
	rows, err := w.rowsOf(r, p, moment, result.Moments.Restored == 0)
	done := lab.Moments{Seconds: time.Since(began).Seconds()}
	text := moment.Format(time.RFC3339Nano)
	switch {
	case errors.Is(err, lab.ErrRefused) && moment.After(p.gapSince) && moment.Before(p.gapUntil):
		done.Refused = 1
	case errors.Is(err, lab.ErrRefused):
		done.Refused = 1
		w.note(&result.Result, err, text+" is refused, but no fault excuses it")
	case err != nil:
		w.note(&result.Result, err, text)
	default:
		done = w.judge(p, moment, rows, &result.Result)
		done.Seconds = time.Since(began).Seconds()
	}
	w.Logf("%s of %s: %+v", text, p.url, done)
	result.Moments.Add(done)
}

// rowsOf are the rows of a moment, by the newest backup that ended before it. The first one of a run is recovered by one call of transfer.
func (w *world) rowsOf(r *lab.Restorer, p *past, moment time.Time, first bool) (map[string]lab.Spans, error) {
	base := p.bases[0]
	for _, other := range p.bases {
		if !other.Ended.After(moment) {
			base = other
		}
	}
	if first {
		return r.RecoverAtOnce(w.Context(), base, moment.Format(time.RFC3339Nano))
	}
	return r.Recover(w.Context(), base, p.url, moment.Format(time.RFC3339Nano))
}

// judge compares the rows of a moment with those that the cluster has of it.
func (w *world) judge(p *past, moment time.Time, rows map[string]lab.Spans, result *lab.Result) lab.Moments {
	want, _ := p.history.Until(moment)
	missing, surplus := p.history.Compare(moment, rows)
	done := lab.Moments{Restored: 1, Rows: len(want), Missing: len(missing), Surplus: len(surplus)}
	if len(missing)+len(surplus) == 0 {
		done.Exact = 1
		return done
	}
	result.Problems = append(result.Problems, fmt.Sprintf("%s: %d rows are missing, such as %v, and %d are too many, such as %v",
		moment.Format(time.RFC3339Nano), len(missing), some(missing), len(surplus), some(surplus)))
	return done
}

// some are the lowest rows of a list.
func some(rows []lab.ID) []lab.ID {
	slices.SortFunc(rows, func(a, b lab.ID) int { return a.Number - b.Number })
	return rows[:min(3, len(rows))]
}
