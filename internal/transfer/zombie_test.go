/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// zombie is an attempt that continues after a second one has started: its node lost the API server, but not the
// destination.
type zombie struct {
	w    *world
	goOn string
	end  chan outcome
}

// startZombie starts a backup that stops in the middle of its output, and returns when a piece is stored.
func (w *world) startZombie(last string, more ...string) *zombie {
	w.t.Helper()
	folder := w.t.TempDir()
	z := &zombie{w: w, goOn: filepath.Join(folder, "go-on"), end: make(chan outcome, 1)}
	started := filepath.Join(folder, "started")
	script := "head -c 200000 /dev/urandom; touch " + started + "; while ! test -e " + z.goOn + "; do sleep 0.01; done; " + last
	go func() { z.end <- w.run(w.backupArguments(script, more...)...) }()
	wait(w.t, started)
	return z
}

// finish lets the zombie continue to its end.
func (z *zombie) finish() outcome {
	z.w.t.Helper()
	z.w.worked(os.WriteFile(z.goOn, nil, 0o600))
	return <-z.end
}

// restores asserts that the backup can be restored and has the given content.
func (w *world) restores(sum string) {
	w.t.Helper()
	w.data = w.t.TempDir()
	if got := w.must(w.restore("cat > " + w.data + "/all")); got.SHA256 != sum {
		w.t.Errorf("restored is %s, not %s", got.SHA256, sum)
	}
}

// nothingElse asserts that the manifest contains every stored piece.
func (w *world) nothingElse() {
	w.t.Helper()
	content, err := os.ReadFile(w.path(protocol.ManifestName))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range w.stored() {
		if base := filepath.Base(name); strings.Contains(base, ".zst") && !strings.Contains(string(content), base) {
			w.t.Errorf("%s is in no manifest", name)
		}
	}
}

func TestAZombieThatFailsAfterASecondAttemptCompletedRemovesNothingOfIt(t *testing.T) {
	w := newWorld(t)
	z := w.startZombie("exit 1")
	second := w.must(w.backup("cat " + w.noise()))
	w.fails(z.finish(), protocol.ExitFailed, protocol.ActionFailed)
	w.restores(second.SHA256)
	w.nothingElse()
}

func TestAZombieThatEndsAfterASecondAttemptCompletedUsesTheExistingBackup(t *testing.T) {
	w := newWorld(t)
	z := w.startZombie("head -c 200000 /dev/urandom")
	second := w.must(w.backup("cat " + w.noise()))
	if first := w.must(z.finish()); first.SHA256 != second.SHA256 || first.Bytes != second.Bytes {
		t.Errorf("the zombie has %+v, the backup is %+v", first.Result, second.Result)
	}
	w.restores(second.SHA256)
	w.nothingElse()
}

func TestAnAttemptThatEndsAfterAZombieCompletedUsesTheZombiesBackup(t *testing.T) {
	w := newWorld(t)
	first, second := w.startZombie("echo first"), w.startZombie("echo second")
	made := w.must(first.finish())
	if got := w.must(second.finish()); got.SHA256 != made.SHA256 {
		t.Errorf("the second has %+v, the backup is %+v", got.Result, made.Result)
	}
	w.restores(made.SHA256)
	w.nothingElse()
}

func TestAnAttemptThatFailsAfterAZombieCompletedRemovesNothingOfIt(t *testing.T) {
	w := newWorld(t)
	first, second := w.startZombie("echo first"), w.startZombie("exit 1")
	made := w.must(first.finish())
	w.fails(second.finish(), protocol.ExitFailed, protocol.ActionFailed)
	w.restores(made.SHA256)
	w.nothingElse()
}

func TestTwoAttemptsThatRunAtOnceDoNotTouchEachOther(t *testing.T) {
	w := newWorld(t)
	first, second := w.startZombie("exit 1"), w.startZombie("head -c 100000 /dev/urandom")
	w.fails(first.finish(), protocol.ExitFailed, protocol.ActionFailed)
	made := w.must(second.finish())
	w.restores(made.SHA256)
	w.nothingElse()
}

func TestAZombieOfOneMemberChangesNoManifest(t *testing.T) {
	w := newWorld(t)
	z := w.startZombie("echo late", "--members", "2", "--complete=false")
	w.must(w.backup("echo zero", "--members", "2", "--complete=false"))
	w.must(w.backup("echo one", "--member", "1", "--members", "2"))
	before := w.manifests()
	w.must(z.finish())
	if after := w.manifests(); !slices.Equal(before, after) {
		t.Errorf("before %s\nafter %s", before, after)
	}
	w.nothingElse()
}

// manifests returns the contents of all manifests.
func (w *world) manifests() (contents []string) {
	w.t.Helper()
	for _, name := range w.stored() {
		if filepath.Base(name) == protocol.ManifestName {
			content, err := os.ReadFile(filepath.Join(w.root, name))
			if err != nil {
				w.t.Fatal(err)
			}
			contents = append(contents, string(content))
		}
	}
	return contents
}

func TestAnAttemptUsesTheManifestOfTheBackupIfTheMembersManifestIsMissing(t *testing.T) {
	w := newWorld(t)
	made := w.must(w.backup("echo rows"))
	w.worked(os.Remove(w.path("member-0/manifest.json")))
	if again := w.must(w.backup("echo other rows")); again.SHA256 != made.SHA256 {
		t.Errorf("made %+v, again %+v", made.Result, again.Result)
	}
	w.restores(made.SHA256)
}

func TestABackupOfTheFirstFormatIsRestoredListedAndDeleted(t *testing.T) {
	w := newWorld(t)
	made := w.must(w.backup("cat " + w.noise()))
	w.toFirstFormat()
	w.restores(made.SHA256)
	if again := w.must(w.backup("exit 1")); again.SHA256 != made.SHA256 {
		t.Errorf("made %+v, again %+v", made.Result, again.Result)
	}
	if o := w.must(w.run("list", "--at", "file:///", "--root", w.root)); !strings.Contains(o.stdout, "file:///shop/orders") {
		t.Errorf("listed is %s", o.stdout)
	}
	w.must(w.remove())
	w.nothing()
}

// toFirstFormat converts a backup to the first format: names of pieces without an attempt.
func (w *world) toFirstFormat() {
	w.t.Helper()
	for _, name := range []string{protocol.ManifestName, protocol.MemberManifest(0)} {
		w.change(name, func(content []byte) []byte {
			var manifest protocol.Manifest
			if err := json.Unmarshal(content, &manifest); err != nil {
				w.t.Fatal(err)
			}
			manifest.Format = 1
			stream := &manifest.Streams[0]
			for i := range stream.Pieces {
				piece := &stream.Pieces[i]
				old := strings.Replace(piece.Name, "-"+stream.Attempt+".", ".", 1)
				if err := os.Rename(w.path(piece.Name), filepath.Join(w.path(""), old)); err != nil && !os.IsNotExist(err) {
					w.t.Fatal(err)
				}
				piece.Name = old
			}
			stream.Attempt = ""
			content, err := json.Marshal(manifest)
			if err != nil {
				w.t.Fatal(err)
			}
			return content
		})
	}
}

func TestAManifestIsNeverOverwritten(t *testing.T) {
	w := newWorld(t)
	for name, hardLinks := range map[string]bool{"with hard links": true, "without hard links": false} {
		t.Run(name, func(t *testing.T) {
			place, err := protocol.ParseLocation("file:///" + strings.ReplaceAll(name, " ", "-"))
			if err != nil {
				t.Fatal(err)
			}
			volume, err := openVolume(place, w.root)
			if err != nil {
				t.Fatal(err)
			}
			defer volume.close() //nolint:errcheck // nothing is pending
			create := volume.create
			if !hardLinks {
				create = func(ctx context.Context, name string, content []byte) error {
					return exists(volume.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{IfNotExist: true}))
				}
			}
			if err := create(t.Context(), protocol.ManifestName, []byte("first")); err != nil {
				t.Fatal(err)
			}
			if err := create(t.Context(), protocol.ManifestName, []byte("second")); !errors.Is(err, errExists) {
				t.Errorf("the second is answered by %v", err)
			}
			listed, err := volume.list(t.Context(), "")
			if content, read := volume.read(t.Context(), protocol.ManifestName); string(content) != "first" || read != nil || len(listed) != 1 || err != nil {
				t.Errorf("there is %q, %v, beside %v, %v", content, read, listed, err)
			}
		})
	}
}

func TestAnAttemptWithAnotherImageDoesNotUseTheExistingBackup(t *testing.T) {
	w := newWorld(t)
	about := func(image string) []string {
		return []string{"--about", "engine=ledger-v1", "--about", "image=" + image}
	}
	w.must(w.backup("echo rows", about("ledger:1")...))
	w.must(w.backup("echo rows", about("ledger:1")...))
	w.fails(w.backup("echo rows", about("ledger:2")...), protocol.ExitRefused, protocol.VersionMismatch, "ledger:1", "ledger:2")
}
