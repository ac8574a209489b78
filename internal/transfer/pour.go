/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// pour writes a stream to an action and counts the bytes that the action reads. An action may leave the padding of an
// archive unread, which is zeros. pour itself reads and verifies the padding. An action that leaves other bytes unread
// has not restored the backup, whatever its exit code is.
type pour struct {
	action *action
	pipe   *os.File // our end of its stdin
	total  int64    // bytes of the stream
	taken  *counter // bytes written to the pipe; at the end, bytes that the action read
	text   int64    // bytes written to the pipe up to the last one that is not zero: the rest may be padding
	done   bool
}

// newPour connects the stdin of an action that is not started yet.
func newPour(action *action, total int64, taken *counter) (*pour, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create a pipe: %w", err)
	}
	action.cmd.Stdin, action.pipe = stdin, pipe
	p := &pour{action: action, pipe: pipe, total: total, taken: taken}
	widen(pipe)
	if err := errors.Join(action.start(), stdin.Close()); err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	return p, nil
}

func (p *pour) Write(data []byte) (int, error) {
	if p.done {
		return len(data), p.onlyPadding(data)
	}
	n, err := p.pipe.Write(data)
	if rest := trimZeros(data[:n]); len(rest) > 0 {
		p.text = p.taken.Load() + int64(len(rest))
	}
	p.taken.Add(int64(n))
	if err == nil || !errors.Is(err, syscall.EPIPE) {
		return n, err
	}
	unread, err := p.ask(unreadIn)
	if err == nil {
		err = p.end(func() (int, error) { return unread, nil })
	}
	if err == nil {
		err = p.onlyPadding(data[n:])
	}
	return len(data), err
}

// finish closes the stdin of the action and returns how the action ended.
func (p *pour) finish() error {
	if p.done {
		return nil
	}
	// While a write end is open, the action waits for more. Without any end, the number of unread bytes is unknown. A
	// read end that is opened before the last write would hide that the action stopped reading.
	reader, err := p.ask(func(fd int) (int, error) {
		return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		p.action.kill()
		_ = p.action.wait() // it was killed
		p.done = true
		return failf(protocol.Failed, "Cannot inspect the standard input of the action %s: %v. See the log of the pod.", p.action.name, err)
	}
	defer unix.Close(reader) //nolint:errcheck // nothing was written through it
	return p.end(func() (int, error) { return unreadIn(reader) })
}

// end waits for the action and checks that it left only padding unread.
func (p *pour) end(left func() (int, error)) error {
	p.done = true
	_ = p.pipe.Close() // the SIGKILL may have closed it before
	if err := p.action.wait(); err != nil {
		return err
	}
	unread, err := left()
	if err != nil {
		return fmt.Errorf("count the unread bytes of the action %s: %w", p.action.name, err)
	}
	if p.taken.Add(-int64(unread)) == 0 && p.total > 0 {
		return p.stopped()
	}
	if p.taken.Load() < p.text {
		return p.stopped()
	}
	return nil
}

// onlyPadding checks bytes that the action did not read.
func (p *pour) onlyPadding(unread []byte) error {
	if len(trimZeros(unread)) > 0 {
		return p.stopped()
	}
	return nil
}

func (p *pour) stopped() error {
	return failf(protocol.ActionStoppedReading, "The action %s ended with exit code 0, but read only %d of the %d bytes of the backup. "+
		"Correct the restore action of the engine: it must read its standard input to the end.", p.action.name, p.taken.Load(), p.total)
}

// ask calls the function with the file descriptor of the pipe.
func (p *pour) ask(question func(fd int) (int, error)) (answer int, err error) {
	raw, err := p.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	called := raw.Control(func(fd uintptr) { answer, err = question(int(fd)) }) //nolint:gosec // a descriptor
	return answer, errors.Join(called, err)
}

// unreadIn returns the number of bytes in a pipe, even after the last reader closed its end.
func unreadIn(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCINQ) }

// trimZeros returns the bytes up to the last one that is not zero.
func trimZeros(data []byte) []byte {
	for len(data) >= len(zeros) && bytes.Equal(data[len(data)-len(zeros):], zeros[:]) { // fast, for long runs
		data = data[:len(data)-len(zeros)]
	}
	return bytes.TrimRight(data, "\x00")
}

var zeros [4 << 10]byte
