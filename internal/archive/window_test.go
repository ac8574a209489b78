/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// past is an archive of random files, marks, gaps and backups. A second passes with each file.
type past struct {
	*testing.T
	names []string
	bases []BaseBackup
	now   time.Time
}

func (p *past) add(objects []Upload, err error) {
	if err != nil {
		p.Fatal(err)
	}
	for _, o := range objects {
		p.names = append(p.names, o.Name())
	}
}

func pastOf(t *testing.T, random *rand.Rand) *past {
	p := &past{T: t, now: time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)}
	r, running := Resume(nil, nil, false), []BaseBackup{}
	for n := range 12 + random.IntN(60) {
		file := fmt.Sprintf("log.%03d", n)
		if n > 0 && random.IntN(20) == 0 {
			p.add(r.Record(Gap, fmt.Sprintf("log.%03d", n-1), 1))
		}
		if random.IntN(4) == 0 { // a backup begins
			running = append(running, BaseBackup{Start: file})
		}
		p.now = p.now.Add(time.Second)
		r.Mark(p.now)
		p.add(r.Whole(file, []byte(file)))
		running = slices.DeleteFunc(running, func(b BaseBackup) bool {
			if random.IntN(3) != 0 {
				return false
			}
			b.Ended = p.now
			p.bases = append(p.bases, b)
			return true
		})
	}
	return p
}

// recoverable reports whether a moment can be recovered from any backup.
func (p *past) recoverable(files Listing, at time.Time) bool {
	return slices.ContainsFunc(p.bases, func(b BaseBackup) bool {
		if b.Ended.After(at) {
			return false
		}
		_, err := files.Covering(b.Start, at)
		return err == nil
	})
}

// moments are those in the history of an archive, and some before and after it.
func (p *past) moments() (all []time.Time) {
	for at := p.now.Add(-80 * time.Second); at.Before(p.now.Add(3 * time.Second)); at = at.Add(time.Second / 2) {
		all = append(all, at)
	}
	return all
}

func TestTheSpansAreExactlyWhatCanBeRecovered(t *testing.T) {
	yes, no := 0, 0
	for seed := range uint64(100) {
		p := pastOf(t, rand.New(rand.NewPCG(seed, 2)))
		files := Read(p.names)
		spans, _ := files.Spans(p.bases)
		for _, at := range p.moments() {
			in := slices.ContainsFunc(spans, func(s Span) bool { return !at.Before(s.Oldest) && !at.After(s.Newest) })
			if in != p.recoverable(files, at) {
				t.Fatalf("seed %d: %s is in a span: %v, but can be recovered: %v\n%v\n%v", seed, at, in, !in, spans, p.bases)
			}
			if in {
				yes++
			} else {
				no++
			}
		}
	}
	if yes < 1000 || no < 1000 {
		t.Errorf("only %d moments in spans, %d outside", yes, no)
	}
}

func TestWithoutABackupSinceTheGapNothingOfNowCanBeRecovered(t *testing.T) {
	p, r := &past{T: t}, Resume(nil, nil, false)
	p.add(r.Whole("log.0", []byte("x")))
	bases := []BaseBackup{{"log.0", time.Unix(1, 0)}}
	based := func() bool {
		_, is := Read(p.names).Spans(bases)
		return is
	}
	before := based()
	p.add(r.Record(Gap, "log.0", 1))
	during := based()
	p.add(r.Whole("log.5", []byte("x")))
	after := based()
	bases = append(bases, BaseBackup{"log.5", time.Unix(2, 0)})
	if !before || during || after || !based() {
		t.Errorf("before the gap %v, at the gap %v, after it %v, with a backup %v", before, during, after, based())
	}
}
