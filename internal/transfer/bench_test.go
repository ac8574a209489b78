/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // the content of the rows, as in the benchmark on a real node
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// The benchmarks of the pipes, without a database and without a network:
//
//	go test -run '^$' -bench Pipe -benchtime 5x -cpuprofile /tmp/cpu ./internal/transfer
//
// Bare is the same work in one goroutine: the same compressor, one SHA-256, files. MB/s depend on the load of the
// machine. The CPU seconds for each GB are those of this process, without the action; compare them within one run.

// sampleBytes is the size of the data: several windows of the compressor.
const sampleBytes = 96 << 20

// rows creates a file like a table with a number and two MD5 sums in each row, in the format of a heap.
func rows(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "rows")
	file, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	buffered, row := bufio.NewWriterSize(file, 1<<20), make([]byte, 0, 128)
	for number, written := uint32(0), 0; written < sampleBytes; number++ {
		row = binary.LittleEndian.AppendUint32(row[:0], number>>7)
		row = append(row, 0, 0, 0, 0, 0x02, 0x09, 0x18, 0, byte(number), byte(number>>8), 3, 0, 2, 9, 24, 0)
		row = binary.LittleEndian.AppendUint32(row, number)
		row = fmt.Appendf(row, "C%xC%x", md5.Sum(row[:8]), md5.Sum(row[8:])) //nolint:gosec // see above
		_, _ = buffered.Write(row)                                           // Flush returns its error
		written += len(row)
	}
	if err := cmpErrors(buffered.Flush(), file.Close()); err != nil {
		tb.Fatal(err)
	}
	return name
}

func cmpErrors(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// measured reports the throughput and the CPU of the steps between start and the end of the benchmark.
func measured(b *testing.B, step func()) {
	b.Helper()
	b.SetBytes(sampleBytes)
	before := ownCPU()
	for b.Loop() {
		step()
	}
	b.ReportMetric((ownCPU()-before).Seconds()/float64(b.N)/sampleBytes*1e9, "cpu-s/GB")
}

func ownCPU() time.Duration {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &usage) // cannot fail with this argument
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// succeeds runs the program.
func succeeds(b *testing.B, arguments ...string) {
	b.Helper()
	var log bytes.Buffer
	if code := Run(b.Context(), arguments, io.Discard, &log); code != protocol.ExitDone {
		b.Fatalf("exit code %d: %s", code, &log)
	}
}

func pipeBackup(b *testing.B, root, data string, more ...string) {
	b.Helper()
	arguments := append([]string{"backup", "--to", "file:///shop/orders", "--root", root, "--id", "uid-1", "--complete", "--result", filepath.Join(b.TempDir(), "result")}, more...)
	succeeds(b, append(arguments, "--", "cat", data)...)
}

func BenchmarkPipeOfABackup(b *testing.B) {
	data := rows(b)
	measured(b, func() { pipeBackup(b, b.TempDir(), data) })
}

func BenchmarkPipeOfARestore(b *testing.B) {
	root := b.TempDir()
	pipeBackup(b, root, rows(b))
	measured(b, func() {
		succeeds(b, "restore", "--from", "file:///shop/orders", "--root", root, "--id", "new-1", "--into", b.TempDir(),
			"--result", filepath.Join(b.TempDir(), "result"), "--", "sh", "-c", "cat >/dev/null")
	})
}

// bare copies a file through the function, and computes one SHA-256.
func bare(b *testing.B, from, into string, through func(io.Reader, io.Writer) error) {
	b.Helper()
	source, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	target, err := os.Create(into)
	if err != nil {
		b.Fatal(err)
	}
	if err := cmpErrors(through(source, target), target.Close()); err != nil {
		b.Fatal(err)
	}
}

func bareCompress(source io.Reader, target io.Writer) error {
	compressor, err := zstd.NewWriter(target, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(sha256.New(), compressor)}, struct{ io.Reader }{source}, make([]byte, copyBytes))
	return cmpErrors(err, compressor.Close())
}

func bareDecompress(source io.Reader, target io.Writer) error {
	decompressor, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer decompressor.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(sha256.New(), target)}, struct{ io.Reader }{decompressor}, make([]byte, copyBytes))
	return err
}

func BenchmarkPipeOfABareCompression(b *testing.B) {
	data, into := rows(b), filepath.Join(b.TempDir(), "compressed")
	measured(b, func() { bare(b, data, into, bareCompress) })
}

func BenchmarkPipeOfABareDecompression(b *testing.B) {
	data, compressed := rows(b), filepath.Join(b.TempDir(), "compressed")
	bare(b, data, compressed, bareCompress)
	measured(b, func() { bare(b, compressed, os.DevNull, bareDecompress) })
}
