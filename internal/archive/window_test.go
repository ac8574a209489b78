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

// past is an archive of random files, marks, gaps, forks and backups. A second passes with each file.
type past struct {
	*testing.T
	random *rand.Rand
	record *Recorder
	names  []string
	// timeline and place name the next file.
	timeline, place int
	now             time.Time
	running, ended  []saved
	gaps, forks     int
}

// saved is a backup, which begins after some gaps and ends with a file of a timeline. It is lost if the database gives up that file before
// the next gap.
type saved struct {
	BaseBackup
	gaps, timeline, place int
	lost                  bool
}

func (p *past) add(objects []Upload, err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	for _, o := range objects {
		p.names = append(p.names, o.Name())
	}
}

func newPast(t *testing.T, seed uint64) *past {
	return &past{T: t, random: rand.New(rand.NewPCG(seed, 2)), record: Resume(nil, nil, false, time.Time{}), now: time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)}
}

func (p *past) file(place int) string { return fmt.Sprintf("t-%02d.%03d", p.timeline, place) }

// live writes some files.
func (p *past) live(files int, forks bool) {
	for range files {
		switch one := p.random.IntN(40); {
		case p.place == 0:
		case one == 0:
			p.add(p.record.Record(Gap, p.file(p.place-1), 1))
			p.gaps++
		case one < 3 && forks:
			p.fork()
		}
		if p.random.IntN(4) == 0 {
			id := fmt.Sprintf("backup-%d", len(p.running)+len(p.ended))
			p.running = append(p.running, saved{BaseBackup: BaseBackup{ID: id, Start: p.file(p.place)}, gaps: p.gaps})
		}
		p.now = p.now.Add(time.Second)
		p.record.Mark(p.now)
		p.add(p.record.Whole(p.file(p.place), []byte("xx")))
		p.running = slices.DeleteFunc(p.running, p.ends)
		p.place++
	}
}

// ends lets some backups end.
func (p *past) ends(b saved) bool {
	if p.random.IntN(3) != 0 {
		return false
	}
	b.Ended, b.timeline, b.place = p.now, p.timeline, p.place
	b.Trusted = p.random.IntN(10) > 0
	p.ended = append(p.ended, b)
	return true
}

// fork gives up some of the last files of the timeline. A backup that runs goes on.
func (p *past) fork() {
	at, size := max(0, p.place-p.random.IntN(4)), int64(p.random.IntN(2))
	switch {
	case at == p.place: // at the end of the last file
		size = 0
	case !slices.ContainsFunc(p.names, func(name string) bool { is, _ := Parse(name); return is.File == p.file(at) }):
		return // it is before this timeline
	}
	p.add(p.record.Record(Fork, p.file(at), size))
	for i, b := range p.ended {
		p.ended[i].lost = b.lost || b.gaps == p.gaps && b.timeline == p.timeline && b.place >= at
	}
	for i, b := range p.running {
		p.running[i].lost = b.lost || b.gaps == p.gaps
	}
	p.timeline, p.place, p.forks = p.timeline+1, at, p.forks+1
}

func (p *past) backups() (all []BaseBackup) {
	for _, b := range p.ended {
		all = append(all, b.BaseBackup)
	}
	return all
}

// recoverable reports whether a moment can be recovered from any backup that is left.
func (p *past) recoverable(files Listing, at time.Time) bool {
	return slices.ContainsFunc(p.ended, func(b saved) bool {
		if b.Ended.After(at) || b.lost || !b.Trusted {
			return false
		}
		_, err := files.Covering(b.BaseBackup, at)
		return err == nil
	})
}

// moments are those in the history of an archive, and some before and after it.
func (p *past) moments() (all []time.Time) {
	for at := p.now.Add(-80 * time.Second); at.Before(p.now.Add(3 * time.Second)); at = at.Add(time.Second) {
		all = append(all, at)
	}
	return all
}

func TestTheSpansAreWhatCanBeRecovered(t *testing.T) {
	yes, no, careful := 0, 0, 0
	for seed := range uint64(100) {
		p := newPast(t, seed)
		p.live(12+p.random.IntN(60), seed%2 == 0)
		files := Read(p.names)
		spans, _ := files.Spans(p.backups())
		for _, at := range p.moments() {
			in := slices.ContainsFunc(spans, func(s Span) bool { return !at.Before(s.Oldest) && !at.After(s.Newest) })
			can := p.recoverable(files, at)
			switch {
			case in && can:
				yes++
			case !in && !can:
				no++
			case !in && p.forks > 0: // the database may or may not have given up the end of a backup
				careful++
			default:
				t.Fatalf("seed %d: %s is in a span: %v, but can be recovered: %v\n%v\n%+v", seed, at, in, can, spans, p.ended)
			}
		}
	}
	if yes < 1000 || no < 1000 || careful > yes/2 {
		t.Errorf("only %d moments in spans, %d outside, %d of them although they can be recovered", yes, no, careful)
	}
}

// A cluster keeps its newest backup, and what the window needs. Each moment of the window that the whole
// archive and all backups have can be recovered from what is left.
func TestARemovalKeepsEveryMomentOfTheWindow(t *testing.T) {
	const window = 20 * time.Second
	kept, removed, most := 0, 0, 0
	for seed := range uint64(60) {
		whole := newPast(t, seed)
		left := &past{T: t}
		gone, from, named := map[string]bool{}, int64(0), []string(nil)
		for range 10 {
			whole.live(1+whole.random.IntN(15), seed%2 == 0)
			left.names = since(whole.names, from)
			left.ended = slices.DeleteFunc(slices.Clone(whole.ended), func(b saved) bool { return gone[b.ID] })
			begin := whole.now.Add(-window)
			for i, b := range left.ended {
				left.ended[i].Named = slices.Contains(named, b.ID)
			}
			needs := Read(left.names).Retained(left.backups(), begin)
			named = needs.Backups
			if needs.From > from {
				removed, from = removed+int(needs.From-from), needs.From
			}
			for i, b := range whole.ended {
				gone[b.ID] = gone[b.ID] || i < len(whole.ended)-1 && !slices.Contains(needs.Backups, b.ID)
			}
			left.names = since(whole.names, from)
			left.ended = slices.DeleteFunc(left.ended, func(b saved) bool { return gone[b.ID] })
			most = max(most, len(left.ended))
			kept += whole.compare(left, begin, seed)
		}
	}
	t.Logf("%d moments kept, %d files removed, at most %d backups", kept, removed, most)
	if kept < 1000 || removed < 1000 || most > 8 {
		t.Errorf("%d moments kept, %d files removed, at most %d backups", kept, removed, most)
	}
}

// since are the objects that are left.
func since(names []string, from int64) []string {
	return slices.Sorted(slices.Values(names))[len(Before(names, from)):]
}

// compare returns how many moments since a time can be recovered. The rest has to have all of them.
func (p *past) compare(left *past, begin time.Time, seed uint64) (kept int) {
	all, remaining := Read(p.names), Read(left.names)
	spans, _ := all.Spans(p.backups())
	for _, at := range p.moments() {
		in := slices.ContainsFunc(spans, func(s Span) bool { return !at.Before(s.Oldest) && !at.After(s.Newest) })
		switch {
		case at.Before(begin), !in || !p.recoverable(all, at):
		case left.recoverable(remaining, at):
			kept++
		default:
			p.Fatalf("seed %d: since %s, %s cannot be recovered\n%+v\n%+v", seed, begin, at, p.ended, left.ended)
		}
	}
	return kept
}

func TestWithoutABackupSinceTheGapNothingOfNowCanBeRecovered(t *testing.T) {
	p := newPast(t, 1)
	r := p.record
	p.add(r.Whole("log.0", []byte("x")))
	bases := []BaseBackup{{Start: "log.0", Ended: time.Unix(1, 0), Trusted: true}}
	based := func() bool {
		_, is := Read(p.names).Spans(bases)
		return is
	}
	before := based()
	p.add(r.Record(Gap, "log.0", 1))
	during := based()
	p.add(r.Whole("log.5", []byte("x")))
	after := based()
	bases = append(bases, BaseBackup{Start: "log.5", Ended: time.Unix(2, 0), Trusted: true})
	if !before || during || after || !based() {
		t.Errorf("before the gap %v, at the gap %v, after it %v, with a backup %v", before, during, after, based())
	}
}

// filed archives a file with a mark at a second.
func (p *past) filed(name string, second int64) {
	p.record.Mark(time.Unix(second, 0))
	p.add(p.record.Whole(name, []byte("xx")))
}

func TestAMarkOfAWrongClockCountsUntilTheNextOne(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 1000)
	p.filed("log.2", 10)
	p.filed("log.3", 20)
	if got := Read(p.names).Newest(); !got.Equal(time.Unix(20, 0)) {
		t.Errorf("%s", got)
	}
}

// The database left its history before a mark showed the end of the backup. It may have given up the end.
func TestADoubtfulBackupIsNoneToStartWithAndRemains(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 10)
	p.filed("log.2", 20)
	p.filed("log.3", 30)
	p.add(p.record.Record(Fork, "log.3", 1))
	p.filed("new.4", 40)
	files := Read(p.names)
	early, late := BaseBackup{ID: "early", Start: "log.1", Ended: time.Unix(15, 0), Trusted: true},
		BaseBackup{ID: "late", Start: "log.2", Ended: time.Unix(25, 0), Trusted: true}
	spans, based := files.Spans([]BaseBackup{early, late})
	if !based || len(spans) != 1 || !spans[0].Oldest.Equal(early.Ended) {
		t.Errorf("%v %v", spans, based)
	}
	if spans, based := files.Spans([]BaseBackup{late}); based || len(spans) > 0 {
		t.Errorf("with only the doubtful one %v %v", spans, based)
	}
	if got := files.Retained([]BaseBackup{late}, time.Unix(39, 0)).Backups; !slices.Equal(got, []string{"late"}) {
		t.Errorf("%v remain", got)
	}
}

// A database whose clock is years ahead can be recovered.
func TestABackupOfTheOnlyLogWithItsFileIsUsable(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 1000000)
	p.filed("log.2", 1000010)
	backup := BaseBackup{Start: "log.2", Ended: time.Unix(20, 0), Trusted: true}
	_, based := Read(p.names).Spans([]BaseBackup{backup})
	if _, err := Read(p.names).Covering(backup, time.Unix(1000005, 0)); err != nil || !based {
		t.Errorf("%v, %v", based, err)
	}
}

// The server that gave the last mark of an idle database had all of a backup that ended before.
func TestABackupOfAnIdleDatabaseOutlivesAFailover(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 10)
	p.filed("log.2", 20)
	p.add(p.record.Record(Fork, "log.2", 2))
	p.filed("new.3", 40)
	if _, based := Read(p.names).Spans([]BaseBackup{{Start: "log.2", Ended: time.Unix(15, 0), Trusted: true}}); !based {
		t.Error("no backup begins in the archive")
	}
}

// A clock that was behind at the end of a range hides no backup from the retention.
func TestABackupAfterAWrongClockRemains(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 1000)
	p.filed("log.2", 1010)
	p.filed("log.3", 10)
	p.add(p.record.Record(Gap, "log.3", 2))
	p.filed("log.9", 1050)
	if got := Read(p.names).Retained([]BaseBackup{{ID: "a", Start: "log.1", Ended: time.Unix(1005, 0), Trusted: true}}, time.Unix(1001, 0)).Backups; !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v remain", got)
	}
}

// A clock that was wrong before hides no fork.
func TestAWrongClockMakesNoBackupUsable(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 1000)
	p.filed("log.2", 20)
	p.filed("log.3", 30)
	p.add(p.record.Record(Fork, "log.3", 1))
	p.filed("new.4", 40)
	if _, based := Read(p.names).Spans([]BaseBackup{{Start: "log.2", Ended: time.Unix(25, 0), Trusted: true}}); based {
		t.Error("the database may have given up the end of the backup")
	}
}

// A server that does not know of another one may give its files the same names.
func TestABackupOfAnotherServerIsNoneOfThisOne(t *testing.T) {
	p := newPast(t, 1)
	p.filed("log.1", 10)
	p.filed("log.2", 30)
	p.add(p.record.Record(Gap, "log.2", 2))
	p.filed("log.1", 10000)
	p.filed("log.2", 10010)
	spans, based := Read(p.names).Spans([]BaseBackup{{ID: "first", Start: "log.2", Ended: time.Unix(20, 0), Trusted: true}})
	if based || len(spans) != 1 || !spans[0].Newest.Equal(time.Unix(30, 0)) {
		t.Errorf("%v %v", spans, based)
	}
	for start, last := range map[string]int64{"log.1": 1, "log.2": 1} { // log.1 is the first file of the other server
		r, err := Read(p.names).Covering(BaseBackup{Start: start, Ended: time.Unix(20, 0)}, time.Unix(25, 0))
		if err != nil || r.Last != last {
			t.Errorf("%s: until %d, %v", start, r.Last, err)
		}
	}
}
