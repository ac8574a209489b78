/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// grown is a recorder with a file in a number of parts of a byte.
func grown(t *testing.T, parts int) *Recorder {
	t.Helper()
	r := Resume(nil, nil, false, time.Time{})
	for i := range parts {
		if err := r.Data("log.1", int64(i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		r.Cut()
	}
	return r
}

func TestAFileOfManyPartsIsStoredOnceMore(t *testing.T) {
	for parts, kind := range map[int]PieceKind{1: Tail, maxParts - 1: Tail, maxParts: Full} {
		objects, err := grown(t, parts).Complete("log.1", int64(parts))
		if err != nil || len(objects) != 1 || objects[0].Kind != kind || (len(objects[0].Replaces) == parts) != (kind == Full) {
			t.Errorf("%d parts: %v %+v", parts, err, objects)
		}
	}
}

func TestAnActionThatOmitsBytesIsRefused(t *testing.T) {
	for want, send := range map[string]func(*Recorder) error{
		"continues at offset 3":   func(r *Recorder) error { return r.Data("log.1", 3, nil) },
		"end that file first":     func(r *Recorder) error { return r.Data("log.2", 0, nil) },
		"is larger than":          func(r *Recorder) error { return r.Data("log.1", 2, make([]byte, MaxFileBytes)) },
		"does not have all of it": func(r *Recorder) error { _, err := r.Complete("log.1", 3); return err },
		"forks at offset 3":       func(r *Recorder) error { _, err := r.Record(Fork, "log.1", 3); return err },
		"from its beginning": func(r *Recorder) error {
			_, err := r.Complete("log.1", 2)
			if err == nil {
				err = r.Data("log.2", 5, nil)
			}
			return err
		},
	} {
		if err := send(grown(t, 2)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAMarkAloneIsStoredOnce(t *testing.T) {
	r := grown(t, 1)
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	r.Mark(now)
	first := r.Idle()
	r.Mark(now.Add(time.Second))
	second := r.Idle()
	if len(first) != 1 || len(second) != 1 || len(second[0].Replaces) != 1 || second[0].Replaces[0] != first[0].Name() || len(r.Idle()) != 0 {
		t.Errorf("%+v %+v", first, second)
	}
}

// storing returns a function that stores objects by their names, and removes those that they replace.
func storing(t *testing.T, names *[]string) func([]Upload, error) {
	return func(objects []Upload, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			*names = append(slices.DeleteFunc(*names, func(name string) bool { return slices.Contains(o.Replaces, name) }), o.Name())
		}
	}
}

// A mark is about the bytes before it. Other bytes in their place are of a server that may have committed less until then.
func TestAMarkIsNotAboutOtherBytesThatFollow(t *testing.T) {
	r := grown(t, 4)
	r.Mark(time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC))
	if err := r.Data("log.1", 2, []byte("other")); err != nil {
		t.Fatal(err)
	}
	objects := r.Cut()
	if len(objects) != 1 || objects[0].End != 7 || !objects[0].Mark.IsZero() {
		t.Errorf("%+v", objects)
	}
}

// The object with the first bytes is lost, and the file is stored again. Then a failover gives up its last bytes.
func TestTheMarksBeforeALossRemain(t *testing.T) {
	r, names := Resume(nil, nil, false, time.Time{}), []string(nil)
	add := storing(t, &names)
	at := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for i := range 3 {
		add(nil, r.Data("log.1", int64(2*i), []byte("xy")))
		r.Mark(at.Add(time.Duration(i) * time.Minute))
		add(r.Cut(), nil)
	}
	names = names[1:]
	r.Again()
	add(r.Cut(), nil)
	add(r.Complete("log.1", 5))
	add(r.Record(Fork, "log.1", 5))
	if got := Read(names).Newest(); !got.Equal(at.Add(time.Minute)) {
		t.Errorf("the archive has each commit until %s\n%s", got, strings.Join(names, "\n"))
	}
}

func TestTheNameOfAPieceHasAllOfIt(t *testing.T) {
	p := Piece{Sequence: 5000, File: "0000000A.history", From: 1, End: 1 << 24, Before: "0123456789abcdef", After: Nothing,
		Mark: time.Date(2026, 11, 27, 20, 0, 0, 123e6, time.UTC), Kind: Tail, Encrypted: true}
	for _, p := range []Piece{p, {File: "a.b-c_d", Before: Nothing, After: Nothing, Kind: Gap}} {
		if got, ok := Parse(p.Name()); !ok || got != p {
			t.Errorf("%s is %+v, %v, want %+v", p.Name(), got, ok, p)
		}
	}
	for _, name := range []string{"archive.json", p.Name() + ".1a2b3c4d.tmp", strings.Replace(p.Name(), "00000004/", "00000005/", 1), strings.Replace(p.Name(), "20261127", "20261327", 1)} {
		if got, ok := Parse(name); ok {
			t.Errorf("%s is %+v", name, got)
		}
	}
}

// Without its marks, a file that ends at a fork right after a restart shows no end of the backups before it.
func TestAnObjectThatReplacesOthersHasTheirMarksAfterARestart(t *testing.T) {
	second := func(n int) time.Time { return time.Date(2026, 11, 27, 20, 0, n, 0, time.UTC) }
	r, names := Resume(nil, nil, false, time.Time{}), []string{}
	keep := storing(t, &names)
	var content []byte
	for n := range maxParts + 1 {
		r.Mark(second(n))
		if err := r.Data("log.1", int64(n), []byte("x")); err != nil {
			t.Fatal(err)
		}
		content = append(content, 'x')
		keep(r.Cut(), nil)
	}
	r = Resume(Read(names), content, false, time.Time{})
	keep(r.Complete("log.1", int64(len(content))))
	keep(r.Record(Fork, "log.1", int64(len(content))))
	keep(r.Whole("log.2", []byte("y")))
	backup := BaseBackup{Start: "log.1", Ended: second(maxParts - 1), Trusted: true}
	if _, based := Read(names).Spans([]BaseBackup{backup}); !based {
		t.Errorf("the backup is of no use any more: %q", names)
	}
}

// The first object after a restart has the mark, so it must be true of the bytes before that object.
func TestAMarkOfAnAbandonedHistoryEndsWithARestart(t *testing.T) {
	at := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		then func(*Recorder, func([]Upload, error))
		want time.Time
	}{
		"the file ends before the mark": {func(r *Recorder, add func([]Upload, error)) { add(r.Complete("log.1", 3)) }, at},
		"other bytes follow": {func(r *Recorder, add func([]Upload, error)) {
			add(nil, r.Data("log.1", 2, []byte("zz")))
			add(r.Cut(), nil)
		}, time.Time{}},
		"the file continues": {func(*Recorder, func([]Upload, error)) {}, at.Add(time.Minute)},
	} {
		names := []string(nil)
		r, add := Resume(nil, nil, false, time.Time{}), storing(t, &names)
		for i := range 2 {
			add(nil, r.Data("log.1", int64(2*i), []byte("xy")))
			r.Mark(at.Add(time.Duration(i) * time.Minute))
			add(r.Cut(), nil)
		}
		c.then(r, add)
		if got := Resume(Read(names), nil, false, time.Time{}).marked; !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
