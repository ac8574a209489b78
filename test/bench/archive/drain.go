/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The figures of a backlog.
const (
	drainRate    = "drain_mib_per_second"
	cpuServer    = "cpu_seconds_per_gib_server"
	cpuReceiver  = "cpu_seconds_per_gib_receiver"
	cpuStore     = "cpu_seconds_per_gib_store"
	storedShare  = "stored_share"
	memoryBeside = "memory_mib"
)

// backlog is log that nothing has archived: its last segment, and its size.
type backlog struct {
	last string
	gib  float64
}

// writeBacklog creates a server with log that nothing has archived.
func (b *bench) writeBacklog() error {
	b.tell("Writing log that is archived at once.")
	if err := b.copyOf(emptyServer, b.path(behindServer)); err != nil {
		return err
	}
	return b.with(b.path(behindServer), func(s *server) error {
		if err := s.write(b.drainGiB, insert); err != nil {
			return err
		}
		segment, err := s.complete()
		if err != nil {
			return err
		}
		// A contestant stores whole segments, from that of the slot.
		text, err := s.ask(`SELECT ceil((pg_current_wal_flush_lsn() - restart_lsn) / (16 * 2.0 ^ 20)) / 64 FROM pg_replication_slots LIMIT 1`)
		if err != nil {
			return err
		}
		b.backlog = backlog{last: segment}
		b.backlog.gib, err = strconv.ParseFloat(text, 64)
		return err
	}, "archive_mode=on") // without a command, which another run has
}

// drain archives the backlog.
func (b *bench) drain(c contestant) error {
	t, err := b.trial(c, behindServer)
	if err != nil {
		return err
	}
	if err := cold(t.folder); err != nil { // written to the disk before the measurement
		return err
	}
	if err := t.serve(false); err != nil {
		return err
	}
	before, err := spending(t.server.process, b.store.process)
	if err != nil {
		return err
	}
	started := time.Now()
	if err := t.catchUp(); err != nil {
		return err
	}
	watched := watch(t.tool())
	if err := b.until("the log is archived", func() (bool, error) { return c.has(t, b.backlog.last) }); err != nil {
		return err
	}
	took := time.Since(started)
	if err := b.drained(t, before, took, watched); err != nil {
		return err
	}
	return t.remove()
}

// tool is the process below which the archive works.
func (t *trial) tool() *process {
	if t.receiver != nil {
		return t.receiver
	}
	return t.server.process
}

// catchUp begins to archive.
func (t *trial) catchUp() error {
	command := t.c.command(t)
	if command == "" {
		return t.receive()
	}
	text := "archive_command = '" + strings.ReplaceAll(command, "'", "''") + "'\n"
	if err := os.WriteFile(filepath.Join(t.data(), "postgresql.auto.conf"), []byte(text), 0o600); err != nil {
		return err
	}
	_, err := t.server.ask("SELECT pg_reload_conf()")
	return err
}

func (b *bench) drained(t *trial, before spent, took time.Duration, watched *memory) error {
	cpu, err := before.since()
	if err != nil {
		return err
	}
	receiver, err := t.receiver.cpu()
	if err != nil {
		return err
	}
	stored, err := sizeOf(t.c.place(t))
	if err != nil {
		return err
	}
	name, gib := t.c.name(), b.backlog.gib
	b.figure(name, drainRate, gib*1024/took.Seconds())
	b.figure(name, cpuServer, cpu[0]/gib)
	b.figure(name, cpuReceiver, receiver/gib)
	b.figure(name, cpuStore, cpu[1]/gib)
	b.figure(name, storedShare, float64(stored)/(gib*(1<<30)))
	b.figure(name, memoryBeside, watched.peak(others))
	return nil
}
