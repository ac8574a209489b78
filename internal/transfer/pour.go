/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// pour writes a stream to an action and counts what the action reads. An action may leave the padding of an archive
// unread, which is zeros: those are read to their end here, and with that checked. An action that leaves anything
// else unread has not restored the backup, whatever its exit code is.
type pour struct {
	action *action
	pipe   *os.File // our end of its stdin
	total  int64    // bytes of the stream
	taken  *counter // bytes that the pipe took, and in the end those that the action has read of them
	last   tail     // of what the pipe took: the action may not have read it
	done   bool
}

// newPour gives an action that is not started its stdin.
func newPour(action *action, total int64, taken *counter) (*pour, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	action.cmd.Stdin, action.pipe = stdin, pipe
	p := &pour{action: action, pipe: pipe, total: total, taken: taken}
	size, err := p.ask(func(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0) }) //nolint:gosec // a descriptor
	if err == nil {
		err = action.start()
	}
	if err = errors.Join(err, stdin.Close()); err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	p.last.size = size
	return p, nil
}

func (p *pour) Write(data []byte) (int, error) {
	if p.done {
		return len(data), p.onlyPadding(data)
	}
	n, err := p.pipe.Write(data)
	p.taken.Add(int64(n))
	p.last.add(data[:n])
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

// finish tells the action that this was all, and returns how it ended.
func (p *pour) finish() error {
	if p.done {
		return nil
	}
	// While an end to write is open the action waits for more, and without any end nobody can tell what was left. An
	// end to read that is opened before the last write would hide that the action stopped reading.
	reader, err := p.ask(func(fd int) (int, error) {
		return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		p.action.kill()
		_ = p.action.wait() // it was killed
		p.done = true
		return failf(protocol.Failed, "Cannot look at the standard input of the action %s: %v. See the log of the pod.", p.action.name, err)
	}
	defer unix.Close(reader) //nolint:errcheck // nothing was written through it
	return p.end(func() (int, error) { return unreadIn(reader) })
}

// end waits for the action and judges by what it has left unread.
func (p *pour) end(left func() (int, error)) error {
	p.done = true
	_ = p.pipe.Close() // the hard end may have closed it before
	if err := p.action.wait(); err != nil {
		return err
	}
	unread, err := left()
	if err != nil {
		return fmt.Errorf("count what the action %s has not read: %w", p.action.name, err)
	}
	if p.taken.Add(-int64(unread)) == 0 && p.total > 0 {
		return p.stopped()
	}
	return p.onlyPadding(p.last.of(unread))
}

func (p *pour) onlyPadding(unread []byte) error {
	for _, b := range unread {
		if b != 0 {
			return p.stopped()
		}
	}
	return nil
}

func (p *pour) stopped() error {
	return failf(protocol.ActionStoppedReading, "The action %s ended with exit code 0, but read only %d of the %d bytes of the backup. "+
		"Correct the restore action of the engine: it must read its standard input to the end.", p.action.name, p.taken.Load(), p.total)
}

// ask calls the function with the descriptor of the pipe.
func (p *pour) ask(question func(fd int) (int, error)) (answer int, err error) {
	raw, err := p.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	called := raw.Control(func(fd uintptr) { answer, err = question(int(fd)) }) //nolint:gosec // a descriptor
	return answer, errors.Join(called, err)
}

// unreadIn is how many bytes a pipe holds, also after the last reader has closed its end.
func unreadIn(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCINQ) }

// tail keeps the last bytes of what is added to it.
type tail struct {
	size  int
	bytes []byte
}

func (t *tail) add(data []byte) {
	if len(data) >= t.size {
		t.bytes = append(t.bytes[:0], data[len(data)-t.size:]...)
		return
	}
	kept := min(len(t.bytes), t.size-len(data))
	copy(t.bytes, t.bytes[len(t.bytes)-kept:])
	t.bytes = append(t.bytes[:kept], data...)
}

// of returns the last bytes.
func (t *tail) of(count int) []byte { return t.bytes[len(t.bytes)-min(count, len(t.bytes)):] }
