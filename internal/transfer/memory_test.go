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
