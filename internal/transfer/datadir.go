/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// lostAndFound is a directory in a new file system.
const lostAndFound = "lost+found"

// dataDirectory is the future data directory of a database.
type dataDirectory string

// look returns the mark of a previous attempt of the same restore, if it exists. It rejects data of any other origin.
func (d dataDirectory) look(id string) (*protocol.Mark, error) {
	found, err := d.readMark()
	if err != nil {
		return nil, err
	}
	if found != nil && found.ID != id {
		return nil, failf(protocol.DataDirectoryNotEmpty, "The data directory %s was restored for %s, not for %s. Restore into an empty volume.",
			d, found.ID, id)
	}
	if found != nil {
		return found, nil
	}
	entries, err := d.entries()
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, failf(protocol.DataDirectoryNotEmpty, "The data directory %s is not empty: it contains %q. Restore into an empty volume.", d,
			entries[0])
	}
	return nil, nil //nolint:nilnil // does not exist
}

func (d dataDirectory) readMark() (*protocol.Mark, error) {
	content, err := os.ReadFile(d.path(protocol.MarkName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // does not exist
	}
	if err != nil {
		return nil, fmt.Errorf("read the mark of a previous restore: %w", err)
	}
	found, err := protocol.DecodeMark(content)
	if err != nil {
		return nil, failf(protocol.DataDirectoryNotEmpty, "The mark %s cannot be read: %v. Restore into an empty volume.",
			d.path(protocol.MarkName), err)
	}
	return found, nil
}

// write replaces the mark atomically, after all data is on disk.
func (d dataDirectory) write(m protocol.Mark) error {
	content, err := m.Encode()
	if err != nil {
		return fmt.Errorf("encode the mark: %w", err)
	}
	err = errors.Join(
		syncFileSystem(string(d)),
		os.WriteFile(d.path(protocol.MarkName+".tmp"), content, 0o600),
	)
	if err == nil {
		err = errors.Join(syncFileSystem(string(d)), os.Rename(d.path(protocol.MarkName+".tmp"), d.path(protocol.MarkName)),
			syncFileSystem(string(d)))
	}
	return d.failure("write the mark of the restore", err)
}

// begin records that the directory is being filled, and removes the data of a previous attempt.
func (d dataDirectory) begin(id string) error {
	if err := d.write(protocol.Mark{ID: id, State: protocol.MarkRunning}); err != nil {
		return err
	}
	return d.empty()
}

// empty removes the data of a previous attempt.
func (d dataDirectory) empty() error {
	entries, err := d.entries()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(d.path(entry)))
	}
	return d.failure("empty the data directory", err)
}

// entries returns the names of the data files.
func (d dataDirectory) entries() ([]string, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, d.failure("create the data directory", err)
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, d.failure("read the data directory", err)
	}
	var names []string
	for _, entry := range entries {
		if !slices.Contains([]string{lostAndFound, protocol.MarkName, protocol.MarkName + ".tmp"}, entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func (d dataDirectory) path(name string) string { return filepath.Join(string(d), name) }

// full reports whether the volume has no free space.
func (d dataDirectory) full() bool {
	var volume unix.Statfs_t
	if err := unix.Statfs(string(d), &volume); err != nil {
		return false
	}
	return volume.Bavail*uint64(volume.Bsize) < 1<<20 || volume.Files > 0 && volume.Ffree == 0 //nolint:gosec // sizes are not negative
}

func (d dataDirectory) failure(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
		return d.noRoom()
	}
	return failf(protocol.Failed, "Cannot %s: %v.", doing, err)
}

func (d dataDirectory) noRoom() *Error {
	return failf(protocol.DataVolumeFull, "The volume of %s is full: the data of the backup does not fit. Restore into a larger volume.", d)
}
