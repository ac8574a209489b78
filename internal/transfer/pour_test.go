/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestAnActionThatStopsReadingFailsTheRestore(t *testing.T) {
	for name, test := range map[string]struct{ backup, restore string }{
		"it never reads a small stream":         {"echo rows", "true"},
		"it never reads one byte":               {"printf x", "true"},
		"it never reads a large stream":         {"head -c 3000000 /dev/urandom", "true"},
		"it reads one byte less than there are": {"printf 0123456789", "head -c 9 >/dev/null"},
		"it reads the first 10 MB":              {"head -c 30000000 /dev/urandom", "head -c 10M >/dev/null"},
		"it reads all but what the pipe holds":  {"head -c 2000000 /dev/urandom", "head -c 1990000 >/dev/null"},
		"it reads all but most of the pipe":     {"head -c 2000000 /dev/urandom", "head -c 1750000 >/dev/null"},
		"data before much padding in the pipe":  {"echo rows; head -c 200000 /dev/zero", "head -c 4 >/dev/null"},
		"it closes its stdin and goes on":       {"head -c 3000000 /dev/urandom", "head -c 1000 >/dev/null; exec <&-; sleep 0.1"},
		"it closes the stdin of a small stream": {"echo rows", "exec <&-; sleep 0.1"},
		"it never reads and runs on":            {"echo rows", "sleep 0.1"},
		"it never reads a stream of zeros":      {"head -c 1000 /dev/zero", "true"},
		"it never reads many zeros":             {"head -c 3000000 /dev/zero", "true"},
		"data after padding":                    {"echo rows; head -c 3000000 /dev/zero; echo rows", "head -c 5 >/dev/null"},
		"data after padding, in the pipe":       {"echo rows; head -c 3000 /dev/zero; echo rows", "head -c 5 >/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.backup(test.backup, "--piece-size", "1Gi"))
			o := w.fails(w.restore("touch "+w.data+"/some; "+test.restore), protocol.ExitFailed, protocol.ActionStoppedReading, "sh ended with exit code 0", "read only", "standard input")
			if left := w.restored(); len(left) > 0 || o.Bytes != 0 {
				t.Errorf("left are %v, the result is %+v", left, o.Result)
			}
			w.must(w.restore("cat > " + w.data + "/all"))
		})
	}
}

func TestAnActionMayLeavePaddingUnread(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file"), []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		backup, restore string
		bytes, total    int64 // 0: decided by tar
	}{
		"it reads everything":           {"head -c 3000000 /dev/urandom", "cat >/dev/null", 3000000, 3000000},
		"it reads everything and waits": {"echo rows", "cat >/dev/null; sleep 0.1", 5, 5},
		"a small padding":               {"echo rows; head -c 1000 /dev/zero", "head -c 5 >/dev/null", 5, 1005},
		"a padding of most of a pipe":   {"echo rows; head -c 200000 /dev/zero", "dd bs=1 count=5 status=none", 5, 200005},
		"a padding of a pipe and more":  {"echo rows; head -c 3000000 /dev/zero", "dd bs=1 count=5 status=none", 5, 3000005},
		"tar of a large blocking factor": {
			fmt.Sprintf("tar -c -b 2000 -C %s file", folder), "tar -x -f -", 0, 1024000,
		},
		"tar that stops at the mark of the end": {
			fmt.Sprintf("tar -c -b 2000 -C %s file", folder), "dd bs=512 count=4 status=none | tar -x -f -", 2048, 1024000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.backup(test.backup, "--piece-size", "1Gi"))
			o := w.must(w.restore("cd " + w.data + " && " + test.restore))
			if test.bytes != 0 && o.Bytes != test.bytes || o.TotalBytes != test.total {
				t.Errorf("it read %d of %d, not %d of %d", o.Bytes, o.TotalBytes, test.bytes, test.total)
			}
		})
	}
}

func TestAFailedActionIsNotReportedAsStoppedReading(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("head -c 3000000 /dev/urandom"))
	w.fails(w.restore("head -c 10 >/dev/null; exit 7"), protocol.ExitFailed, protocol.ActionFailed, "exit code 7")
}

func TestThePaddingStartsAfterTheLastByteThatIsNotZero(t *testing.T) {
	for name, test := range map[string]struct{ data, want []byte }{
		"nothing":            {nil, nil},
		"only padding":       {make([]byte, 3*len(zeros)+1), nil},
		"none":               {[]byte("rows"), []byte("rows")},
		"a little":           {[]byte("rows\x00\x00"), []byte("rows")},
		"a lot":              {append([]byte("rows"), make([]byte, 3*len(zeros)+1)...), []byte("rows")},
		"zeros between rows": {[]byte("\x00a\x00b\x00"), []byte("\x00a\x00b")},
	} {
		if got := trimZeros(test.data); !bytes.Equal(got, test.want) {
			t.Errorf("%s: %d bytes, not %d", name, len(got), len(test.want))
		}
	}
}

// The action writes more than the pipe has room for by default, and ends before anything reads it.
func TestThePipeFromAnActionHoldsMoreThanByDefault(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	r := &backupRun{run: &run{log: slog.New(slog.DiscardHandler)}, Backup: &protocol.Backup{}}
	r.Command = []string{"sh", "-c", "head -c 200000 /dev/zero; echo $$ > " + ended}
	err := r.pump(t.Context(), idleTimeout{time.Minute, func(error) {}}, func(output io.Reader) (int64, error) {
		wait(t, ended)
		return io.Copy(io.Discard, output)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestThePipeToAnActionHoldsMoreThanByDefault(t *testing.T) {
	written := filepath.Join(t.TempDir(), "written")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	action := newAction(ctx, []string{"sh", "-c", "while ! test -e " + written + "; do sleep 0.01; done; cat >/dev/null"}, slog.New(slog.DiscardHandler))
	into, err := newPour(action, 200000, &counter{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := into.Write(noise(200000)) // waits for the action if the pipe is smaller
	if err != nil || n != 200000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := errors.Join(os.WriteFile(written, nil, 0o600), into.finish()); err != nil {
		t.Error(err)
	}
}
