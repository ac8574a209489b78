/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// frame returns the data as one frame, as previous versions stored a whole stream.
func frame(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var into bytes.Buffer
	compressor, err := zstd.NewWriter(&into, zstd.WithWindowSize(4<<20), zstd.WithEncoderConcurrency(2))
	if err == nil {
		_, err = compressor.Write(data)
	}
	if err = errors.Join(err, compressor.Close()); err != nil {
		tb.Fatal(err)
	}
	return into.Bytes()
}

// publish stores a backup of these bytes. All their checksums in the manifest are right.
func (w *world) publish(data, stored []byte) {
	w.t.Helper()
	store, err := openStore(w.t.Context(), "file:///shop/orders", protocol.Store{Root: w.root})
	if err != nil {
		w.t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	stream := &protocol.Stream{Attempt: "0a0b0c0d", Bytes: int64(len(data)), StoredBytes: int64(len(stored)), SHA256: hex.EncodeToString(sum[:])}
	ctx, end := context.WithCancelCause(w.t.Context())
	defer end(nil)
	pieces := &cutter{ctx: ctx, store: store, name: stream.PieceName, uploads: uploadParts, size: 1 << 20, patient: idleTimeout{time.Minute, end}, stored: &counter{}}
	_, err = pieces.Write(stored)
	w.worked(errors.Join(err, pieces.Close()))
	stream.Pieces = pieces.pieces
	manifest := &protocol.Manifest{Format: protocol.ManifestFormat, ID: "uid-1", Members: 1, Streams: []protocol.Stream{*stream}}
	content, err := manifest.Encode()
	w.worked(errors.Join(err, store.create(w.t.Context(), protocol.ManifestName, content)))
}

func TestABackupOfOneFrameIsRestored(t *testing.T) {
	w := newWorld(t)
	data := texts(3*blockBytes + 1)
	w.publish(data, frame(t, data))
	w.must(w.restore("cat > " + w.data + "/all"))
	if got, err := os.ReadFile(filepath.Join(w.data, "all")); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A piece that ends at the end of a frame decompresses without an error, so only the checksum of the data shows that
// frames are missing.
func TestFramesThatAreNotTheDataAreRefused(t *testing.T) {
	data := texts(3 * blockBytes)
	frames := make([][]byte, 0, 3)
	for block := range slices.Chunk(data, blockBytes) {
		frames = append(frames, compressed(t, bytes.NewReader(block), protocol.Compression{}))
	}
	half := frames[2][:len(frames[2])/2]
	for name, stored := range map[string][]byte{
		"the last frame is missing":   slices.Concat(frames[0], frames[1]),
		"the first frame is missing":  slices.Concat(frames[1], frames[2]),
		"two frames are exchanged":    slices.Concat(frames[0], frames[2], frames[1]),
		"a frame is repeated":         slices.Concat(frames[0], frames[1], frames[2], frames[2]),
		"the last frame is cut":       slices.Concat(frames[0], frames[1], half),
		"a frame in between is cut":   slices.Concat(frames[0], half, frames[2]),
		"something follows the data":  slices.Concat(frames[0], frames[1], frames[2], []byte("something")),
		"the data is not compressed":  data,
		"the pieces contain no frame": frame(t, nil),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(data, stored)
			ended := filepath.Join(t.TempDir(), "ended")
			w.fails(w.restore("cat > "+w.data+"/all; touch "+ended), protocol.ExitRefused, protocol.BackupCorrupt, "Create another backup")
			if left := w.restored(); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			if _, err := os.Stat(ended); err == nil {
				t.Error("the action mistook the end of its input for the end of the data")
			}
		})
	}
}

// opened returns the data of one piece with these bytes, as the source returns them.
func opened(t *testing.T, bytes []byte, source io.Reader) *unpacked {
	t.Helper()
	sum := sha256.Sum256(bytes)
	piece := protocol.Piece{Name: "piece", Bytes: int64(len(bytes)), SHA256: hex.EncodeToString(sum[:])}
	pieces := &joiner{store: &store{}, pieces: []protocol.Piece{piece}, current: io.NopCloser(source), sum: sha256.New()}
	u := &unpacked{pieces: pieces, raw: sha256.New()}
	if err := u.open(nil, &protocol.Stream{}, &counter{}); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUnpackingEndsItsStepsAndReportsTheErrorOfAnyOfThem(t *testing.T) {
	broken, packed := errors.New("broken"), frame(t, texts(20*copyBytes))
	half := packed[:len(packed)/2]
	for name, test := range map[string]struct {
		bytes []byte
		then  error // of the store
		into  io.Writer
		want  error
	}{
		"of the store, at once":       {nil, broken, io.Discard, broken},
		"of the store, after data":    {half, broken, io.Discard, broken},
		"of the store, after a frame": {packed, broken, io.Discard, broken},
		"of the decompressor":         {half, io.EOF, io.Discard, io.ErrUnexpectedEOF},
		"of the consumer, at once":    {packed, io.EOF, &brokenWriter{broken, 0}, broken},
		"of the consumer, later":      {packed, io.EOF, &brokenWriter{broken, 5}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := opened(t, test.bytes, io.MultiReader(bytes.NewReader(test.bytes), iotest.ErrReader(test.then)))
				_, err := u.data.WriteTo(test.into)
				u.close()
				u.close()
				if !errors.Is(err, test.want) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
