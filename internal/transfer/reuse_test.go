/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// series is a cluster whose backups refer to each other.
type series struct {
	*world
	random *rand.Rand
	data   []byte
	more   []string // arguments
}

func newSeries(t *testing.T, size int) *series {
	t.Helper()
	s := &series{newWorld(t), rand.New(rand.NewPCG(1, 1)), make([]byte, size), nil}
	s.overwrite(s.data)
	return s
}

func (s *series) overwrite(part []byte) {
	for at := 0; at < len(part); at += 8 {
		value := s.random.Uint64()
		for n := range min(8, len(part)-at) {
			part[at+n] = byte(value >> (8 * n))
		}
	}
}

// change overwrites a number of pages at random.
func (s *series) change(pages int) {
	for range pages {
		s.overwrite(s.data[s.random.IntN(len(s.data)/8192)*8192:][:8192])
	}
}

func (s *series) url(name string) string { return "file:///shop/orders/" + name }

// in returns the path of an object of a backup.
func (s *series) in(name, object string) string {
	return filepath.Join(s.root, "shop/orders", name, object)
}

// save backs up the data. The backup refers to another one unless that is "".
func (s *series) save(name, earlier string) outcome {
	s.t.Helper()
	return s.must(s.run(s.saving(name, earlier, "cat "+s.file(name))...))
}

// file has the present data.
func (s *series) file(name string) string {
	file := filepath.Join(s.t.TempDir(), name)
	s.worked(os.WriteFile(file, s.data, 0o600))
	return file
}

func (s *series) saving(name, earlier, script string) []string {
	arguments := []string{"backup", "--to", s.url(name), "--root", s.root, "--id", "uid-" + name, "--complete", "--piece-size", "1Mi", "--index"}
	arguments = append(arguments, s.more...)
	if earlier != "" {
		arguments = append(arguments, "--reuse", s.url(earlier))
	}
	return append(arguments, "--", "sh", "-c", script)
}

func (s *series) load(name string) outcome {
	s.world.data = s.t.TempDir()
	arguments := []string{"restore", "--from", s.url(name), "--root", s.root, "--id", "new-" + name, "--into", s.world.data}
	return s.run(append(append(arguments, s.more...), "--", "sh", "-c", "cat > "+s.world.data+"/all")...)
}

// has asserts that a backup restores the data.
func (s *series) has(name string, want []byte) {
	s.t.Helper()
	s.must(s.load(name))
	got, err := os.ReadFile(filepath.Join(s.world.data, "all"))
	if s.worked(err); !slices.Equal(got, want) {
		s.t.Errorf("%s restores %d bytes that differ from the %d of the backup", name, len(got), len(want))
	}
}

func (s *series) drop(name string) {
	s.t.Helper()
	s.must(s.run("delete", "--at", s.url(name), "--root", s.root, "--id", "uid-"+name))
}

// stream returns the stream of a complete backup.
func (s *series) stream(name string) protocol.Stream { return s.manifest(name).Streams[0] }

func (s *series) manifest(name string) *protocol.Manifest {
	s.t.Helper()
	content, err := os.ReadFile(s.in(name, protocol.ManifestName))
	s.worked(err)
	manifest, err := protocol.DecodeManifest(content)
	s.worked(err)
	return manifest
}

// objects returns the objects of a backup.
func (s *series) objects(name string) (all []string) {
	for _, stored := range s.stored() {
		if rest, is := strings.CutPrefix(stored, "shop/orders/"+name+"/"); is {
			all = append(all, rest)
		}
	}
	return all
}

func TestABackupStoresOnlyWhatHasChangedSinceTheLastOne(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("encrypted=%t", encrypted), func(t *testing.T) {
			s := newSeries(t, 24<<20)
			if encrypted {
				folder, _, _ := s.key(1)
				s.more = []string{"--encryption", folder}
			}
			first := s.save("one", "")
			before := slices.Clone(s.data)
			s.change(len(s.data) / 8192 / 100)
			second := s.save("two", "one")
			if second.StoredBytes > first.StoredBytes*3/100 || second.Bytes != int64(len(s.data)) {
				t.Errorf("the first backup stored %d bytes, the second one %d", first.StoredBytes, second.StoredBytes)
			}
			s.has("one", before)
			s.has("two", s.data)
		})
	}
}

func TestABackupKeepsItsDataWhenTheEarlierOnesAreDeleted(t *testing.T) {
	s := newSeries(t, 6<<20)
	s.save("one", "")
	s.change(8)
	s.save("two", "one")
	s.drop("one")
	s.has("two", s.data)
	if left := s.objects("one"); !slices.Contains(left, protocol.DeletedName) || slices.Contains(left, protocol.ManifestName) {
		t.Errorf("the deleted backup has %q", left)
	}
	s.change(8)
	s.save("three", "two")
	s.drop("two")
	s.drop("two") // again
	s.has("three", s.data)
	s.drop("three")
	s.nothing()
}

// The names of archives begin in the same way.
func TestABackupWithTheNameOfAnArchiveKeepsItsData(t *testing.T) {
	s := newSeries(t, 2<<20)
	s.save("one", "")
	s.change(2)
	s.save("archive-of-2025", "one")
	s.worked(os.MkdirAll(s.in("archive-uid-1", ""), 0o755))
	s.worked(os.WriteFile(s.in("archive-uid-1", protocol.ArchiveName), []byte("{}"), 0o600))
	s.drop("one")
	s.has("archive-of-2025", s.data)
	s.drop("archive-of-2025")
	if left := s.stored(); !slices.Equal(left, []string{"shop/orders/archive-uid-1/archive.json"}) {
		t.Errorf("left is %q", left)
	}
}

func TestTheRestOfAStreamThatIsLittleUsedIsStoredAgain(t *testing.T) {
	s := newSeries(t, 4<<20)
	s.save("one", "")
	s.overwrite(s.data[:len(s.data)*6/10])
	s.save("two", "one") // uses 40% of the first one
	if sources := s.stream("two").Sources; len(sources) != 1 || sources[0].Folder != "one" {
		t.Fatalf("sources %+v", sources)
	}
	s.save("three", "two")
	if sources := s.stream("three").Sources; len(sources) != 1 || sources[0].Folder != "two" {
		t.Errorf("sources %+v", sources)
	}
	s.drop("one")
	s.drop("two")
	if left := s.objects("one"); len(left) > 0 {
		t.Errorf("left is %q", left)
	}
	s.has("three", s.data)
}

func TestManyBackupsReferToAFewStreams(t *testing.T) {
	s := newSeries(t, 4<<20)
	last, contents := "", map[string][]byte{}
	for n := range 14 {
		name := fmt.Sprintf("b%d", n)
		s.save(name, last)
		if sources := s.stream(name).Sources; len(sources) > 8 {
			t.Errorf("%s has %d sources", name, len(sources))
		}
		contents[name], last = slices.Clone(s.data), name
		s.change(20)
		if gone := fmt.Sprintf("b%d", n-4); n > 4 && n%2 == 0 {
			s.drop(gone)
			delete(contents, gone)
		}
	}
	for name, content := range contents {
		s.has(name, content)
		s.drop(name)
	}
	s.nothing()
}

func TestABackupOfTheSameDataStoresNothing(t *testing.T) {
	s := newSeries(t, 1<<20)
	s.save("one", "")
	if second := s.save("two", "one"); second.StoredBytes != 0 || second.Bytes != int64(len(s.data)) {
		t.Errorf("%+v", second.Result)
	}
	s.has("two", s.data)
	s.change(3)
	s.save("three", "two")
	s.drop("one")
	s.drop("two")
	s.has("three", s.data)
}

func TestABackupStoresEverythingIfItCannotReferToAnEarlierOne(t *testing.T) {
	s := newSeries(t, 1<<20)
	folder, _, _ := s.key(1)
	for earlier, prepare := range map[string]func(){
		"missing": func() { s.worked(os.Remove(s.in("missing", protocol.ManifestName))) },
		"plain":   func() { s.more = []string{"--encryption", folder} },
		"lost":    func() { s.worked(os.Remove(s.in("lost", s.stream("lost").Pieces[0].Name))) },
		"deleted": func() { s.worked(os.WriteFile(s.in("deleted", protocol.DeletedName), nil, 0o600)) },
		"flipped": func() {
			name := s.in("flipped", s.stream("flipped").Index.Name)
			content, err := os.ReadFile(name)
			s.worked(err)
			content[25] ^= 1 // the length of the first chunk
			s.worked(os.WriteFile(name, content, 0o600))
		},
		"cut-index": func() { s.worked(os.Truncate(s.in("cut-index", s.stream("cut-index").Index.Name), 100)) },
	} {
		t.Run(earlier, func(t *testing.T) {
			s.more = nil
			s.save(earlier, "")
			prepare()
			if o := s.save("after-"+earlier, earlier); o.StoredBytes < int64(len(s.data)) || !strings.Contains(o.stderr, "stores everything") {
				t.Errorf("%d bytes stored: %s", o.StoredBytes, o.stderr)
			}
			s.has("after-"+earlier, s.data)
		})
	}
}

func TestARestoreNamesTheDamagedObjectOfAnEarlierBackup(t *testing.T) {
	s := newSeries(t, 4<<20)
	s.save("one", "")
	s.change(4)
	s.save("two", "one")
	name := s.stream("one").Pieces[1].Name
	content, err := os.ReadFile(s.in("one", name))
	s.worked(err)
	content[len(content)/2] ^= 1
	s.worked(os.WriteFile(s.in("one", name), content, 0o600))
	s.fails(s.load("two"), protocol.ExitRefused, protocol.BackupCorrupt, "one/"+name+" is corrupt")
	s.worked(os.Remove(s.in("one", name)))
	s.fails(s.load("two"), protocol.ExitRefused, protocol.BackupCorrupt, "one/"+name+" is missing")
}

func TestABackupThatIsNotCompleteHoldsWhatItRefersTo(t *testing.T) {
	s := newSeries(t, 2<<20)
	s.save("one", "")
	finish := s.slowly("two", "one")
	s.drop("one")
	s.must(finish())
	s.has("two", s.data)
	s.drop("two")
	s.nothing()
}

// An older version would restore a part of the data, and delete what others need.
func TestOlderVersionsRefuseABackupToWhichOthersMayRefer(t *testing.T) {
	s := newSeries(t, 1<<20)
	s.save("one", "")
	if got := s.manifest("one").Format; got != 3 {
		t.Errorf("with an index the format is %d", got)
	}
	s.must(s.run("backup", "--to", s.url("alone"), "--root", s.root, "--id", "uid-alone", "--complete", "--", "echo", "rows"))
	if got := s.manifest("alone").Format; got != 2 {
		t.Errorf("without an index the format is %d", got)
	}
}

// slowly starts a backup that stops in the middle. finish lets it end.
func (s *series) slowly(name, earlier string) (finish func() outcome) {
	gate, file := filepath.Join(s.t.TempDir(), "gate"), s.file(name)
	end := make(chan outcome, 1)
	script := "head -c 1000000 " + file + "; while ! test -e " + gate + "; do sleep 0.01; done; tail -c +1000001 " + file
	go func() { end <- s.run(s.saving(name, earlier, script)...) }()
	for !slices.ContainsFunc(s.objects(name), protocol.IsHold) {
		pause(s.t.Context(), 10*time.Millisecond)
	}
	return func() outcome {
		s.worked(os.WriteFile(gate, nil, 0o600))
		return <-end
	}
}

// Its pod runs on a node that lost the API server. When it ends, its DatabaseBackup no longer exists, and nothing has held what it refers to.
func TestABackupThatWasDeletedWhileItRanDoesNotAppear(t *testing.T) {
	s := newSeries(t, 2<<20)
	s.save("one", "")
	finish := s.slowly("two", "one")
	s.drop("two")
	s.drop("one")
	s.fails(finish(), protocol.ExitPrecondition, protocol.BackupMissing, "two was deleted while it was written")
	if stored := s.stored(); slices.ContainsFunc(stored, func(name string) bool { return strings.HasSuffix(name, protocol.ManifestName) }) {
		t.Errorf("stored are %q", stored)
	}
}

// The manifest of an attempt that was killed can arrive after the deletion. Another attempt finds it.
func TestAManifestThatArrivesAfterTheDeletionOfItsBackupIsNoBackup(t *testing.T) {
	for _, name := range []string{protocol.ManifestName, protocol.MemberManifest(0)} {
		s := newSeries(t, 1<<20)
		s.save("one", "")
		s.change(2)
		s.save("two", "one")
		late, err := os.ReadFile(s.in("two", name))
		s.worked(err)
		s.drop("two")
		s.drop("one")
		s.worked(os.MkdirAll(filepath.Dir(s.in("two", name)), 0o700))
		s.worked(os.WriteFile(s.in("two", name), late, 0o600))
		s.fails(s.run(s.saving("two", "one", "cat "+s.file("two"))...), protocol.ExitPrecondition, protocol.BackupMissing, "two was deleted while")
		if stored := s.stored(); slices.ContainsFunc(stored, func(name string) bool { return strings.HasSuffix(name, protocol.ManifestName) }) {
			t.Errorf("stored are %q", stored)
		}
	}
}

// A crash after a deletion has removed the hold must not leave what only the hold has kept.
func TestTheDeletionOfABackupThatIsNotCompleteFreesWhatItHeld(t *testing.T) {
	s := newSeries(t, 2<<20)
	s.save("one", "")
	finish := s.slowly("two", "one")
	s.drop("one")
	s.worked(os.WriteFile(s.in("two", protocol.DeletedName), nil, 0o600)) // where the deletion of the second one was killed
	s.drop("two")
	s.nothing()
	s.fails(finish(), protocol.ExitPrecondition, protocol.BackupMissing)
}

// A deletion on a node that lost the API server may run beside a backup to which it belongs, and beside other deletions.
func TestBackupsAndDeletionsAtTheSameTimeLoseNothing(t *testing.T) {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("DBC_ROUNDS"), "3"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		s := newSeries(t, 256<<10)
		contents := map[string][]byte{"b0": slices.Clone(s.data)}
		s.save("b0", "")
		for n := 1; n < 6; n++ {
			name, last := fmt.Sprintf("b%d", n), fmt.Sprintf("b%d", n-1)
			s.change(2)
			contents[name] = slices.Clone(s.data)
			arguments := s.saving(name, last, "cat "+s.file(name))
			var all sync.WaitGroup
			all.Go(func() { s.must(s.run(arguments...)) })
			// The last one, to which the backup refers, and one before.
			for _, gone := range []string{last, fmt.Sprintf("b%d", (n+round)%n)} {
				delay := time.Duration(s.random.IntN(40)) * time.Millisecond
				all.Go(func() {
					pause(t.Context(), delay)
					s.must(s.run("delete", "--at", s.url(gone), "--root", s.root, "--id", "uid-"+gone))
				})
			}
			all.Wait()
			s.has(name, contents[name])
		}
		s.drop("b5")
		s.nothing()
	}
}
