/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// snapshot ends the name of the copy of an archive at the moment of a loss.
const snapshot = "-lost"

// The figures of a loss.
const (
	lossOfServer   = "loss_of_the_server_seconds"
	lossOfMachines = "loss_of_all_but_the_bucket_seconds"
	lostRows       = "lost_rows"
	holes          = "earlier_rows_missing"
)

// losses loses a server at random moments.
func (b *bench) losses(c contestant) error {
	for range b.settings.losses {
		if err := b.loss(c); err != nil {
			return err
		}
	}
	return nil
}

// loss lets a client commit rows, loses the server, and recovers the end of the archive.
func (b *bench) loss(c contestant) error {
	t, err := b.trial(c, emptyServer)
	if err != nil {
		return err
	}
	rows, err := b.commitUntilLost(t)
	if err != nil {
		return err
	}
	if t.receiver != nil { // it stores what it has received
		time.Sleep(b.lag + 2*time.Second)
		if err := b.stop(t.receiver); err != nil {
			return err
		}
	}
	if err := b.lost(t, rows, c.place(t), lossOfServer); err != nil {
		return err
	}
	if bucketOnly(c) {
		if err := b.lost(t, rows, c.place(t)+snapshot, lossOfMachines); err != nil {
			return err
		}
	}
	return t.remove()
}

// bucketOnly reports whether more is lost with the receiver than with the server alone, but not all.
func bucketOnly(c contestant) bool {
	_, is := c.(*engine)
	return is
}

// commitUntilLost returns the rows that were acknowledged until the server was lost. It copies the archive in the bucket as it was then.
func (b *bench) commitUntilLost(t *trial) ([]committed, error) {
	if err := t.begun(); err != nil {
		return nil, err
	}
	w, err := b.client(t.server)
	if err != nil {
		return nil, err
	}
	time.Sleep(b.lag + time.Second + rand.N(b.lag))
	if err := t.server.lose(); err != nil {
		return nil, err
	}
	if bucketOnly(t.c) {
		if _, err := b.do(nil, "cp", "-al", t.c.place(t), t.c.place(t)+snapshot); err != nil {
			return nil, err
		}
	}
	return w.end()
}

// begun starts everything, and waits until the archive works.
func (t *trial) begun() error {
	if err := t.run(); err != nil {
		return err
	}
	segment, err := t.server.complete()
	if err != nil {
		return err
	}
	return t.b.until("the archive works", func() (bool, error) { return t.c.has(t, segment) })
}

// lost recovers an archive, and compares the rows with the acknowledged ones.
func (b *bench) lost(t *trial, rows []committed, place, what string) error {
	into := filepath.Join(t.folder, "recovered"+filepath.Base(place), "pgdata")
	if _, err := b.do(nil, "mkdir", "-p", filepath.Dir(into)); err != nil {
		return err
	}
	if err := b.copyOf(emptyServer, into); err != nil {
		return err
	}
	if err := t.c.recover(t, place, into); err != nil {
		return err
	}
	return b.with(into, func(s *server) error {
		text, err := s.askAs("postgres", "app", "SELECT n FROM commits ORDER BY n")
		if err != nil {
			return err
		}
		seconds, lost, missing := compare(rows, numbers(text))
		b.figure(t.c.name(), what, seconds)
		if what == lossOfServer {
			b.figure(t.c.name(), lostRows, float64(lost))
		}
		b.figure(t.c.name(), holes, float64(missing))
		return nil
	})
}

func numbers(text string) (all []int) {
	for line := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(line); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// committed is an acknowledged row.
type committed struct {
	n  int
	at time.Time
}

// compare returns the seconds between the last acknowledged row and the last restored one, the number of the acknowledged rows after the
// latter, and of those before it that are missing.
func compare(acknowledged []committed, restored []int) (seconds float64, lost, missing int) {
	if len(acknowledged) == 0 {
		return 0, 0, 0
	}
	has := map[int]bool{}
	newest := 0
	for _, n := range restored {
		has[n], newest = true, max(newest, n)
	}
	last := acknowledged[0].at // if nothing is restored, at least as much is lost
	for _, row := range acknowledged {
		switch {
		case has[row.n]:
			last = row.at
		case row.n > newest:
			lost++
		default:
			missing++
		}
	}
	return acknowledged[len(acknowledged)-1].at.Sub(last).Seconds(), lost, missing
}

// writer is a client that commits rows.
type writer struct {
	rows []committed
	done chan struct{}
	cmd  *exec.Cmd
}

// client commits rows until the server is lost.
func (b *bench) client(s *server) (*writer, error) {
	words := append([]string{"-XqtA", "-v", "ON_ERROR_STOP=1"}, s.connection("app", "app")...)
	cmd := exec.CommandContext(b.ctx, "psql", words...) //nolint:gosec // of PostgreSQL
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("create a pipe: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("create a pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start psql: %w", err)
	}
	w := &writer{done: make(chan struct{}), cmd: cmd}
	go func() {
		defer close(w.done)
		defer stdin.Close()
		lines := bufio.NewScanner(stdout)
		for due := time.Now(); ; due = due.Add(time.Second / time.Duration(b.rate)) {
			time.Sleep(time.Until(due))
			if _, err := fmt.Fprintln(stdin, "INSERT INTO commits DEFAULT VALUES RETURNING n;"); err != nil || !lines.Scan() {
				return
			}
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				w.rows = append(w.rows, committed{n, time.Now()})
			}
		}
	}()
	return w, nil
}

// end returns the acknowledged rows after the loss of the server.
func (w *writer) end() ([]committed, error) {
	<-w.done
	_ = w.cmd.Wait() // it fails, because the server was lost
	if len(w.rows) == 0 {
		return nil, errors.New("the client committed nothing")
	}
	return slices.Clip(w.rows), nil
}
