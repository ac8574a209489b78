/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// nameOfNone is the server without an archive.
const nameOfNone = "none"

// contestant is a way to archive the log of a server.
type contestant interface {
	name() string
	// missing is why it cannot be measured; "" if it can.
	missing() string
	// begin prepares an archive.
	begin(t *trial) error
	// command is the archive_command of the server; "" if a process receives the log.
	command(t *trial) string
	// receiver is that process: its environment and its command.
	receiver(t *trial) (environment, words []string)
	// has reports whether a complete segment is stored.
	has(t *trial, segment string) (bool, error)
	// recover replays the archive at a place into a copy of the server, to the end.
	recover(t *trial, place, into string) error
	// place is the folder of the archive.
	place(t *trial) string
}

// all are the contestants, in the order of the tables.
func (b *bench) all() (all []contestant) {
	driver := b.absent["python3-psycopg2"]
	for _, c := range []contestant{
		&engine{bench: b, of: "postgresql-v1", lacks: driver}, &engine{bench: b, of: "postgresql-single-v1"},
		&receivewal{b}, &pusher{b}, &backrest{b}, none{},
	} {
		if len(b.only) == 0 || slices.Contains(b.only, c.name()) {
			all = append(all, c)
		}
	}
	return all
}

// choose sets the contestants. It refuses a name that none has.
func (b *bench) choose() error {
	b.contestants = b.all()
	for _, name := range b.only {
		if !slices.ContainsFunc(b.contestants, func(c contestant) bool { return c.name() == name }) {
			return fmt.Errorf("--only names %q: want some of %s", name, strings.Join(slices.Sorted(maps.Keys(titles)), ","))
		}
	}
	return nil
}

// none is the server without an archive.
type none struct{}

func (none) name() string                          { return nameOfNone }
func (none) missing() string                       { return "" }
func (none) begin(*trial) error                    { return nil }
func (none) command(*trial) string                 { return "" }
func (none) receiver(*trial) (env, words []string) { return nil, nil }
func (none) has(*trial, string) (bool, error)      { return true, nil }
func (none) recover(*trial, string, string) error  { return nil }
func (none) place(*trial) string                   { return "" }

// trial is a server with an archive.
type trial struct {
	b        *bench
	c        contestant
	id       string
	folder   string // of everything of the trial, except its archive in the bucket
	port     string
	server   *server
	receiver *process // nil if the server archives
}

// data is the folder of the server.
func (t *trial) data() string { return filepath.Join(t.folder, "data") }

// trial copies a server, and prepares an archive.
func (b *bench) trial(c contestant, template string) (*trial, error) {
	b.places++
	id := fmt.Sprintf("t%d", b.places)
	t := &trial{b: b, c: c, id: id, folder: b.path(id)}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	t.port = port
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, fmt.Errorf("create a folder: %w", err)
	}
	if err := b.copyOf(template, t.data()); err != nil {
		return nil, err
	}
	return t, c.begin(t)
}

// serve starts the server. A command of the server may begin later.
func (t *trial) serve(withCommand bool) (err error) {
	settings := []string{"archive_mode=off"}
	if command := t.c.command(t); command != "" {
		settings = []string{"archive_mode=on", fmt.Sprintf("archive_timeout=%d", int(t.b.lag.Seconds()))}
		if withCommand {
			settings = append(settings, "archive_command="+command)
		}
	}
	t.server, err = t.b.serveAt(t.port, t.data(), settings...)
	return err
}

// receive starts the receiver, if the contestant has one.
func (t *trial) receive() (err error) {
	environment, words := t.c.receiver(t)
	if words != nil {
		t.receiver, err = t.b.start("receiver-"+t.id, environment, words...)
	}
	return err
}

// run starts everything.
func (t *trial) run() error {
	if err := t.serve(true); err != nil {
		return err
	}
	return t.receive()
}

// remove ends what is left, and removes everything.
func (t *trial) remove() error {
	for _, p := range []*process{t.receiver, t.serverProcess()} {
		if p != nil {
			p.kill()
			t.b.forget(p)
		}
	}
	for _, place := range []string{t.folder, t.c.place(t), t.c.place(t) + snapshot} {
		if place == "" || place == snapshot {
			continue
		}
		if err := os.RemoveAll(place); err != nil {
			return fmt.Errorf("remove a trial: %w", err)
		}
	}
	return nil
}

func (t *trial) serverProcess() *process {
	if t.server == nil {
		return nil
	}
	return t.server.process
}
