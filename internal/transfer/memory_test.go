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
	"syscall"
	"testing"
)

func TestMemoryStaysBelowTheBoundWhateverTheSize(t *testing.T) {
	w := newWorld(t)
	half := halfCompressible(t, 16<<20)
	script := "for i in $(seq 64); do cat " + half + "; done" // 1 GiB
	backup, _ := w.arguments(w.backupArguments(script, "--piece-size", "128Mi"))
	restore, _ := w.arguments(w.restoreArguments("cat >/dev/null"))
	for _, arguments := range [][]string{backup, restore} {
		cmd, stderr := program(t, arguments)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatal("the system does not report the resource usage")
		}
		t.Logf("%s: %d MiB resident at most", arguments[0], usage.Maxrss>>10)
		if usage.Maxrss<<10 > MemoryBound {
			t.Errorf("%s used %d bytes, more than %d", arguments[0], usage.Maxrss<<10, MemoryBound)
		}
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
