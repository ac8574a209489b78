//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
)

// doubt is how long it may be unknown when etcd committed a revision, as in the script replay.
const doubt = 3 * time.Second

// archived are the files of the archive.
func (e *etcd) archived() archive.Listing {
	e.t.Helper()
	var names []string
	root := filepath.Join(e.data, protocol.ArchiveFolder("uid-1"))
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return nil // the archive is being written
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return archive.Read(names)
}

// awaitMark waits until the archive has everything that was committed until a time.
func (e *etcd) awaitMark(until time.Time) {
	e.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !e.archived().Newest().After(until); time.Sleep(100 * time.Millisecond) {
		// A mark alone is stored once a minute, so a key is written.
		e.must("kv/put", fmt.Sprintf(`{"key":%q,"value":"bWFyaw=="}`, encoded("mark")))
		if time.Now().After(deadline) {
			e.t.Fatalf("the newest mark is %s, want %s\n%s", e.archived().Newest(), until, e.said("archive.log"))
		}
	}
}

// written is a revision that the server has acknowledged.
type written struct {
	revision    int64
	sent, acked time.Time
}

// history is what a client has written.
type history struct {
	sync.Mutex
	all []written
}

// write writes until done is closed, over crashes of the server.
func (h *history) write(e *etcd, done <-chan struct{}) {
	lease := ""
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		default:
		}
		if n%50 == 0 {
			granted, _ := e.post("lease/grant", `{"TTL":"6"}`)
			lease = granted.ID
		}
		path, body := operation(n, lease)
		sent := time.Now()
		got, err := e.post(path, body)
		if err != nil {
			if strings.Contains(err.Error(), ": 400 ") {
				e.t.Errorf("%.500s\n%.500v", body, err)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		h.Lock()
		h.all = append(h.all, written{got.revision(), sent, time.Now()})
		h.Unlock()
		time.Sleep(time.Duration(rand.IntN(12)) * time.Millisecond)
	}
}

// operation is a request that writes: a key, the same key again, several keys together, deletions, keys of a lease, a large value.
func operation(n int, lease string) (path, body string) {
	key := func(n int) string { return fmt.Sprintf("key %05d\x00\n\"", n%300) }
	value := fmt.Sprintf("%d at %s", n, time.Now())
	switch {
	case n%500 == 30: // longer than a frame
		return "kv/txn", transaction(put("large", strings.Repeat(value, 1<<16), ""))
	case n%50 == 49 && lease != "":
		return "lease/revoke", fmt.Sprintf(`{"ID":%q}`, lease)
	case n%11 == 0:
		return "kv/txn", transaction(remove(key(n), key(n+5)), put("deleted", value, ""))
	case n%7 == 0 && lease != "":
		return "kv/txn", transaction(put("leased "+key(n), value, lease), put("empty", "", ""), put(key(n), value, ""))
	case n%5 == 0:
		return "kv/txn", transaction(put("a"+key(n), value, ""), put("b"+key(n), value, ""), remove("c", "d"), put("once", value, ""))
	default:
		return "kv/put", fmt.Sprintf(`{"key":%q,"value":%q}`, encoded(key(rand.IntN(n+1))), encoded(value))
	}
}

// between fails unless a revision has the writes until a time, and none after it.
func (h *history) between(t *testing.T, revision int64, until time.Time) (late time.Duration) {
	t.Helper()
	for _, w := range h.all {
		switch {
		case w.revision <= revision && w.sent.After(until):
			t.Errorf("until %s: revision %d was sent at %s", until, w.revision, w.sent)
		case w.revision > revision && until.Sub(w.acked) > doubt:
			t.Errorf("until %s: revision %d lacks %d, which was acknowledged at %s", until, revision, w.revision, w.acked)
		case w.revision > revision:
			late = max(late, until.Sub(w.acked))
		}
	}
	return late
}

var unknownBetween = regexp.MustCompile(`It is unknown when between (\S+) and (\S+) some revisions`)

// recoverTo recovers to a moment. If the archive cannot have it, as after a kill, it recovers to the last one that it has.
func (e *etcd) recoverTo(until time.Time, h *history) (doubtful bool) {
	e.t.Helper()
	to, out := e.recovered("base", until)
	if found := unknownBetween.FindStringSubmatch(out.Message); found != nil {
		after, errAfter := time.Parse(time.RFC3339, found[1])
		before, errBefore := time.Parse(time.RFC3339, found[2])
		if errAfter != nil || errBefore != nil || after.After(until) || !before.After(until) || before.Sub(after) <= doubt {
			e.t.Fatalf("until %s: %s", until, out.Message)
		}
		doubtful, until = true, after // which is one of the times that the message offers
		to, out = e.recovered("base", until)
	}
	e.world.must(out)
	to.start()
	revision := to.compare(e)
	late := h.between(e.t, revision, until)
	e.t.Logf("%s: revision %d, the first later one was acknowledged %s before, doubtful: %v", until.Format(time.StampMilli), revision, late, doubtful)
	to.kill()
	return doubtful
}

// disturb kills the action, the server and transfer at random times, and starts the server and transfer again. It returns the process of
// transfer, which starts the action again.
func (e *etcd) disturb(running *exec.Cmd, kills int) *exec.Cmd {
	for n := range kills {
		time.Sleep(time.Duration(3000+rand.IntN(5000)) * time.Millisecond)
		switch n % 3 {
		case 0:
			e.killAction(running.Process.Pid)
		case 1:
			e.kill()
			e.start()
		case 2:
			_ = running.Process.Kill()
			_ = running.Wait() // it was killed
			running = e.archive()
		}
	}
	return running
}

func TestEtcdIsRecoveredToAnyMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := newEtcd(w)
	moments, kills := 2, 3
	if sample.Whole() {
		moments, kills = 24, 24
	}
	e.initialize()
	e.start()
	running := e.archive()
	e.must("kv/put", `{"key":"YQ==","value":"YQ=="}`)
	e.save("base")
	h, done, stopped := &history{}, make(chan struct{}), make(chan struct{})
	begin := time.Now()
	writer := &etcd{world: w, folder: e.folder, address: e.address}
	go func() { defer close(stopped); h.write(writer, done) }()
	running = e.disturb(running, kills)
	time.Sleep(2 * time.Second)
	close(done)
	<-stopped
	end := time.Now()
	e.awaitMark(end)
	_ = running.Process.Kill()
	_ = running.Wait() // it was killed
	doubtful := 0
	for range moments {
		if e.recoverTo(begin.Add(time.Duration(rand.Int64N(int64(end.Sub(begin))))), h) {
			doubtful++
		}
	}
	to, out := e.recovered("base", time.Time{})
	w.must(out)
	to.start()
	if got, last := to.compare(e), h.all[len(h.all)-1].revision; got < last {
		t.Errorf("the end has revision %d, want at least %d", got, last)
	}
	t.Logf("%d writes, %d of %d moments were doubtful", len(h.all), doubtful, moments)
	if sample.Whole() && doubtful == moments {
		t.Error("no moment was certain")
	}
}

// Revisions that the members have compacted while the archive was away are lost. The next backup is the first one of a new range.
func TestACompactionThatTheArchiveOfEtcdMissedIsAGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := newEtcd(w)
	e.initialize()
	e.start()
	running := e.archive()
	e.must("kv/put", `{"key":"YQ==","value":"YQ=="}`)
	e.save("base")
	e.awaitMark(time.Now())
	stop := func() {
		_ = running.Process.Kill()
		_ = running.Wait() // it was killed
	}
	stop()
	before := time.Now()
	for range 3 {
		e.must("kv/put", `{"key":"YQ==","value":"Yg=="}`)
	}
	e.must("kv/compaction", fmt.Sprintf(`{"revision":"%d","physical":true}`, e.must("kv/put", `{"key":"Yw==","value":"Yg=="}`).revision()))
	e.must("kv/put", `{"key":"YQ==","value":"Yw=="}`)
	running = e.archive()
	for deadline := time.Now().Add(time.Minute); len(e.archived().Ranges()) < 2; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no gap: %+v", e.archived())
		}
	}
	e.save("later")
	for _, letter := range []string{"x", "y"} { // a revision that is longer than a frame, and one that continues in another file
		e.must("kv/txn", transaction(put("long", strings.Repeat(letter, 5<<20), ""), put("short", letter, "")))
	}
	want := e.all(0).revision() // that of a key that awaitMark writes may be too late for the archive
	e.awaitMark(time.Now())
	stop()
	if files := len(e.archived()); files < 4 { // with the gap
		t.Errorf("%d files: %+v", files, e.archived())
	}
	if _, out := e.recovered("base", before.Add(time.Second)); out.Reason != protocol.TargetNotCovered {
		t.Errorf("%+v", out)
	}
	to, out := e.recovered("later", time.Time{})
	w.must(out)
	to.start()
	if got := to.compare(e); got < want {
		t.Errorf("the end has revision %d, want at least %d", got, want)
	}
}
