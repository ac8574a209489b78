/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// volume opens the volume for backups.
func (w *world) volume() *store {
	w.t.Helper()
	place, err := protocol.ParseLocation("file:///shop/orders")
	w.worked(err)
	store, err := openVolume(place, w.root)
	w.worked(err)
	w.t.Cleanup(func() { w.worked(store.close()) })
	return store
}

// uploadWith backs up the output of a script to a volume with another function for the sync of a file.
func (w *world) uploadWith(sync func(*os.File) error, script string, more ...string) (*protocol.Stream, error) {
	w.t.Helper()
	call, err := protocol.Parse(w.backupArguments(script, more...))
	w.worked(err)
	backup, ok := call.(*protocol.Backup)
	if !ok {
		w.t.Fatalf("%T", call)
	}
	store := w.volume()
	store.sync = sync
	run := &backupRun{run: &run{log: slog.New(slog.NewTextHandler(io.Discard, nil))}, Backup: backup}
	return run.upload(context.WithoutCancel(w.t.Context()), store)
}

func TestThePiecesAreOnTheDiskBeforeTheyGetTheirNames(t *testing.T) {
	w := newWorld(t)
	var synced []int64
	stream, err := w.uploadWith(func(file *os.File) error {
		status, err := file.Stat()
		w.worked(err)
		synced = append(synced, status.Size())
		// Of this piece and its manifest there is only the temporary file.
		if stored := w.stored(); len(stored) != len(synced) || !slices.Contains(stored, file.Name()[len(w.root)+1:]) {
			t.Errorf("%s: stored are %v", file.Name(), stored)
		}
		return file.Sync()
	}, "cat "+w.noise())
	w.worked(err)
	for i, piece := range stream.Pieces {
		if i >= len(synced) || synced[i] != piece.Bytes {
			t.Fatalf("of the pieces %+v, %d bytes were synced", stream.Pieces, synced)
		}
	}
}

func TestAnErrorOfTheDiskEndsABackup(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		failed int // piece
	}{
		"in the middle":                        {"head -c 700000 /dev/urandom", 3},
		"in the last piece":                    {"echo rows", 0},
		"while the action prints nothing more": {"head -c 7000000 /dev/urandom; sleep 1000", 3},
	} {
		t.Run(name, func(t *testing.T) {
			w, calls := newWorld(t), 0
			_, err := w.uploadWith(func(*os.File) error {
				if calls++; calls > test.failed {
					return unix.EIO
				}
				return nil
			}, test.script, "--idle-timeout", "30s")
			if err == nil || failureOf(err).Reason != protocol.DestinationUnreachable || calls != test.failed+1 {
				t.Errorf("after %d calls: %v", calls, err)
			}
			w.nothing()
		})
	}
}

func TestAPieceThatIsNotOnTheDiskGetsNoName(t *testing.T) {
	w := newWorld(t)
	store := w.volume()
	store.sync = func(*os.File) error { return unix.EIO }
	ctx, end := context.WithCancelCause(t.Context())
	pieces := &cutter{ctx: ctx, store: store, name: (&protocol.Stream{Attempt: "0a1b2c3d"}).PieceName, uploads: 1, size: 1 << 20, patient: idleTimeout{time.Hour, end}, stored: &counter{}}
	_, err := pieces.Write([]byte("rows"))
	w.worked(err)
	if err := pieces.Close(); failureOf(err).Reason != protocol.DestinationUnreachable {
		t.Error(err)
	}
	if stored := w.stored(); len(stored) != 1 || !strings.HasSuffix(stored[0], ".tmp") {
		t.Errorf("stored are %v", stored)
	}
	end(nil)
	pieces.abandon()
	w.nothing()
}
