//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"filippo.io/age"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/transfer"
)

// pages writes a file of pages of 8 KiB, and returns a function that overwrites a part of them.
func pages(t *testing.T, size int64) (file string, change func(part float64)) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "pages")
	random := rand.New(rand.NewPCG(1, 1))
	write := func(into *os.File, page int64) {
		content := make([]byte, 8192)
		_, _ = rand.NewChaCha8([32]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}).Read(content)
		if _, err := into.WriteAt(content, page*8192); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *os.File {
		into, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return into
	}
	into := open()
	defer into.Close()
	for page := range size / 8192 {
		write(into, page)
	}
	return file, func(part float64) {
		into := open()
		defer into.Close()
		for range int64(float64(size/8192) * part) {
			write(into, random.Int64N(size/8192))
		}
	}
}

func TestBackupsToABadBucketReferToEachOtherWithinTheMemoryBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.environment = append(w.environment, "GOMAXPROCS=4")
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, protocol.IdentityFile), []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		switch n := requests.Add(1); {
		case n%31 == 5:
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		case n%41 == 7 && in.Method == http.MethodGet:
			out = &cutOff{out, 300_000}
		}
		forward.ServeHTTP(out, in)
	})
	store := w.store()
	store.Encryption = folder
	at := func(n int) string { return fmt.Sprintf("%s-%d", w.location, n) }
	file, change := pages(t, size()/4)
	var sums []string
	save := func(n int) outcome {
		call := protocol.Backup{
			To: at(n), ID: fmt.Sprint("uid-", n), Complete: true, Index: true, Store: store, PieceSize: 64 << 20,
			Compression: protocol.Compression{Level: 9}, Command: []string{"cat", file},
		}
		if n > 0 {
			call.Reuse = at(n - 1)
		}
		o := w.must(w.run(protocol.Args(&call)...))
		sums = append(sums, o.SHA256)
		if o.peak > transfer.MemoryBound {
			t.Errorf("backup %d used %d bytes, more than %d", n, o.peak, int64(transfer.MemoryBound))
		}
		t.Logf("backup %d stored %.2f%%, %d MiB resident, %.0f MB/s", n, 100*float64(o.StoredBytes)/float64(o.Bytes), o.peak>>20, rate(o))
		return o
	}
	drop := func(n int) {
		w.must(w.run(protocol.Args(&protocol.Delete{At: at(n), ID: fmt.Sprint("uid-", n), Store: store})...))
	}
	save(0)
	for n := 1; n < 4; n++ {
		change(0.01)
		if o := save(n); o.StoredBytes > o.Bytes*3/100 {
			t.Errorf("backup %d stored %d of %d bytes", n, o.StoredBytes, o.Bytes)
		}
	}
	drop(0)
	drop(2)
	for _, n := range []int{1, 3} {
		call := protocol.Restore{From: at(n), ID: "new", Into: t.TempDir(), Store: store, Command: []string{"sh", "-c", "cat > /dev/null"}}
		got := w.must(w.run(protocol.Args(&call)...))
		if got.SHA256 != sums[n] || got.peak > transfer.MemoryBound {
			t.Errorf("restored %+v with %d bytes of memory", got.Result, got.peak)
		}
		t.Logf("restore %d: %d MiB resident, %.0f MB/s", n, got.peak>>20, rate(got))
	}
	drop(3)
	drop(1)
	w.location = w.location[:strings.LastIndex(w.location, "/")]
	w.nothing()
}

// A request is repeated if its answer is lost. Then the service refuses it, because the manifest exists.
func TestABackupWhoseStoredManifestIsRefusedDoesNotAppearIfItWasDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var stored atomic.Int32
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Method == http.MethodPut && strings.HasSuffix(in.URL.Path, "-two/"+protocol.MemberManifest(0)) && stored.CompareAndSwap(0, 1) {
			forward.ServeHTTP(discard{}, in)
			http.Error(out, "<Error><Code>PreconditionFailed</Code></Error>", http.StatusPreconditionFailed)
			return
		}
		forward.ServeHTTP(out, in)
	})
	file, _ := pages(t, 2<<20)
	started, gate := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "gate")
	save := func(name, earlier, script string) []string {
		call := protocol.Backup{To: w.location + name, Reuse: earlier, ID: name, Complete: true, Index: true, Store: w.store()}
		return append(protocol.Args(&call), "--", "sh", "-c", script)
	}
	w.must(w.run(save("-one", "", "cat "+file)...))
	cmd, finish := w.command(t.Context(), save("-two", w.location+"-one", "cat "+file+"; touch "+started+"; while ! test -e "+gate+"; do sleep 0.01; done")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, started)
	for _, name := range []string{"-two", "-one"} {
		w.must(w.run(protocol.Args(&protocol.Delete{At: w.location + name, ID: name, Store: w.store()})...))
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.fails(finish(), protocol.ExitPrecondition, protocol.BackupMissing, "-two was deleted while it was written")
	if stored.Load() != 1 {
		t.Errorf("the manifest was stored %d times", stored.Load())
	}
}
