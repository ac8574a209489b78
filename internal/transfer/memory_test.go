//go:build !race

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestMemoryStaysBelowTheBoundWhateverTheSize(t *testing.T) {
	half := halfCompressible(t, 16<<20)
	for name, test := range map[string]struct {
		script, level, processors string
	}{
		"with one thread":  {"for i in $(seq 32); do cat " + half + "; done", "3", "1"}, // 512 MiB
		"with two threads": {"for i in $(seq 32); do cat " + half + "; done", "3", "2"},
		"at most":          {"head -c 512M /dev/urandom", strconv.Itoa(protocol.MaxCompressionLevel), "16"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			backup, _ := w.arguments(w.backupArguments(test.script, "--piece-size", "128Mi", "--compression-level", test.level))
			restore, _ := w.arguments(w.restoreArguments("cat >/dev/null"))
			for _, arguments := range [][]string{backup, restore} {
				cmd, stderr := program(t, arguments)
				cmd.Env = append(cmd.Env, "GOMAXPROCS="+test.processors)
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %s", err, stderr)
				}
				last, _ := protocol.ParseProgress(stderr.String())
				t.Logf("%s: %d MiB resident at most", arguments[0], last.PeakMemoryBytes>>20)
				// On a volume, transfer does without the parts of an upload.
				if most := int64(MemoryBound - (uploadParts+1)*partBytes); last.PeakMemoryBytes == 0 || last.PeakMemoryBytes > most {
					t.Errorf("%s used %d bytes, more than %d", arguments[0], last.PeakMemoryBytes, most)
				}
			}
		})
	}
}

func TestTheMemoryOfABackupThatRefersToAnotherStaysBelowTheBound(t *testing.T) {
	half := halfCompressible(t, 16<<20)
	w := newWorld(t)
	folder, _, _ := w.key(1)
	// Rows that do not repeat, so that all is new, and then nothing.
	script := "for i in $(seq 32); do sed s/^/$i/ " + half + "; done"
	for _, arguments := range [][]string{
		{"backup", "--to", "file:///shop/one", "--id", "1", "--index"},
		{"backup", "--to", "file:///shop/two", "--id", "2", "--index", "--reuse", "file:///shop/one"},
		{"restore", "--from", "file:///shop/two", "--id", "3", "--into", w.data},
	} {
		script := script
		if arguments[0] == "restore" {
			script = "cat > /dev/null"
		} else {
			arguments = append(arguments, "--complete", "--compression-level", strconv.Itoa(protocol.MaxCompressionLevel))
		}
		arguments, _ = w.arguments(append(arguments, "--root", w.root, "--encryption", folder, "--", "sh", "-c", script))
		cmd, stderr := program(t, arguments)
		cmd.Env = append(cmd.Env, "GOMAXPROCS=16")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		last, _ := protocol.ParseProgress(stderr.String())
		t.Logf("%v: %d MiB resident at most, %d of %d MiB stored", arguments[:5], last.PeakMemoryBytes>>20, last.StoredBytes>>20, last.Bytes>>20)
		most := int64(MemoryBound)
		if arguments[0] == "backup" { // on a volume, it does without the parts of uploads
			most -= (uploadParts+1)*partBytes + 4*smallPartBytes
		}
		if last.PeakMemoryBytes == 0 || last.PeakMemoryBytes > most {
			t.Errorf("%s used %d bytes, more than %d", arguments[0], last.PeakMemoryBytes, most)
		}
	}
}

func TestTheMemoryOfAnArchiveStaysBelowTheBound(t *testing.T) {
	half, noise := halfCompressible(t, 16<<20), filepath.Join(t.TempDir(), "noise")
	if err := os.WriteFile(noise, random(16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"half": half, "noise": noise} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			folder, _, _ := w.key(1)
			send := `for n in $(seq 32); do for at in 0 4194304 8388608 12582912; do printf 'data log.%02d %d 4194304\n' $n $at;
				tail -c +$((at + 1)) ` + file + ` | head -c 4194304; done; printf 'end log.%02d 16777216\n' $n; done`
			arguments, _ := w.arguments(w.archiving(send, "--encryption", folder))
			cmd, stderr := program(t, arguments)
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			last, _ := protocol.ParseProgress(stderr.String())
			t.Logf("%d MiB resident at most", last.PeakMemoryBytes>>20)
			if last.Bytes < 512<<20 || last.PeakMemoryBytes > MemoryBound {
				t.Errorf("%+v, more than %d", last, MemoryBound)
			}
		})
	}
}

// halfCompressible creates a file in which every second KiB is random. The file is larger than the window of the
// compressor.
func halfCompressible(t *testing.T, size int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "half")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	noise, zeros := rand.NewChaCha8([32]byte{}), make([]byte, 1<<10)
	for range size >> 11 {
		if _, err := io.CopyN(file, noise, 1<<10); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

func random(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	return content
}
