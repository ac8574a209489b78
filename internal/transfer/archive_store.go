/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// keep creates an object whose name identifies its content, so an object of the same name is as good.
func (s *store) keep(ctx context.Context, name string, content []byte) error {
	if s.folder != "" {
		if err := s.create(ctx, name, content); !errors.Is(err, errExists) {
			return err
		}
		return nil
	}
	if err := exists(s.putNew(ctx, name, content)); !errors.Is(err, errExists) {
		return s.failure("write", name, err)
	}
	return nil
}

// claim makes the location the archive of this cluster. It refuses the archive of another one.
func (r *archiveRun) claim(ctx context.Context) error {
	owner := protocol.ArchiveOwner{Format: protocol.ArchiveFormat, ID: r.ID, About: r.About}
	content, err := json.MarshalIndent(owner, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the owner: %w", err)
	}
	if err := r.store.create(ctx, protocol.ArchiveName, content); !errors.Is(err, errExists) {
		return err
	}
	found := protocol.ArchiveOwner{}
	if content, err = r.store.read(ctx, protocol.ArchiveName); err != nil {
		return err
	}
	if err := json.Unmarshal(content, &found); err != nil || found.ID != r.ID {
		return failf(protocol.IDMismatch, "%s is the archive of another cluster, with UID %q. Use another location.", r.store.URL(""), found.ID)
	}
	if found.Format != protocol.ArchiveFormat {
		return failf(protocol.VersionMismatch, "%s has format %d, and this version writes %d. Use the version of the operator that wrote it.",
			r.store.URL(""), found.Format, protocol.ArchiveFormat)
	}
	return nil
}

// resume reads where the archive ends.
func (r *archiveRun) resume(ctx context.Context) error {
	files, err := r.store.newest(ctx)
	if err != nil {
		return err
	}
	var content []byte
	if last, found := files.Last(); found && last.Record == "" {
		if content, err = r.store.bytesOf(ctx, r.keys, last); err != nil {
			return err
		}
	}
	r.line = lastLine(content)
	r.recorder = archive.Resume(files, content, len(r.keys) > 0, time.Now())
	return nil
}

// lastLine returns the line that ends a text, without its end; "" if it is no short text.
func lastLine(content []byte) string {
	text, ends := bytes.CutSuffix(content, []byte("\n"))
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	if !ends || len(line) > maxTailBytes || bytes.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' }) {
		return ""
	}
	return string(line)
}

// newest returns the files of the last two folders of an archive: what can still be on its way.
func (s *store) newest(ctx context.Context) (archive.Listing, error) {
	folders, err := s.folders(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, folder := range folders[max(0, len(folders)-2):] {
		listed, err := s.list(ctx, folder)
		if err != nil {
			return nil, err
		}
		names = slices.AppendSeq(names, maps.Keys(listed))
	}
	return archive.Read(names), s.removeHalves(ctx, names)
}

// removeHalves removes the files that a process was writing to a volume when it was killed. If it still runs, it writes them again.
func (s *store) removeHalves(ctx context.Context, names []string) error {
	for _, name := range names {
		if s.folder == "" || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		if err := s.bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return s.failure("delete", name, err)
		}
	}
	return nil
}

// folders returns the names of the folders, in order.
func (s *store) folders(ctx context.Context) (all []string, err error) {
	all, _, err = s.entries(ctx)
	return all, err
}

// archives reports whether a folder is that of an archive. The name of a backup may begin in the same way.
func (s *store) archives(ctx context.Context, folder string) (bool, error) {
	if !strings.HasPrefix(folder, protocol.ArchiveFolder("")) {
		return false, nil
	}
	is, err := s.bucket.Exists(ctx, folder+protocol.ArchiveName)
	return is, s.failure("read", folder+protocol.ArchiveName, err)
}

// entries returns the names of the folders, with a slash, and of the objects beside them, in order.
func (s *store) entries(ctx context.Context) (folders, others []string, err error) {
	if s.folder != "" {
		return s.files()
	}
	entries := s.bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		entry, err := entries.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			slices.Sort(folders)
			slices.Sort(others)
			return folders, others, nil
		case err != nil:
			return nil, nil, s.failure("list", "", err)
		case entry.IsDir:
			folders = append(folders, entry.Key)
		default:
			others = append(others, entry.Key)
		}
	}
}

// files are the entries of a volume. The library would fail on a file that another attempt removes, and skip a link and what it cannot
// read.
func (s *store) files() (folders, others []string, err error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case entry.IsDir() && name == lostAndFound:
		case entry.IsDir():
			folders = append(folders, name+"/")
		default:
			others = append(others, name)
		}
	}
	return folders, others, s.failure("list", "", err)
}

// fetch copies a file of an archive. Several objects of one name may exist: the longest one is the file.
func (r *run) fetch(ctx context.Context, call *protocol.Fetch) error {
	if call.Through != "" {
		return r.fetchThrough(ctx, call)
	}
	from, err := r.openArchive(ctx, call.From, call.Store)
	if err != nil {
		return err
	}
	defer from.close() //nolint:errcheck // only read
	file, found := from.files.Find(call.File)
	if !found {
		return absent(call)
	}
	content, err := from.content(ctx, file)
	if err != nil {
		return err
	}
	return writeFile(call.Into, content)
}

func absent(call *protocol.Fetch) error {
	return &Error{Reason: protocol.ActionFailed, action: protocol.ExitNotApplicable, Message: "The archive has no file " + call.File + "."}
}

func writeFile(path string, content []byte) error {
	switch err := os.WriteFile(path, content, 0o600); {
	case err == nil:
		return nil
	case volumeReason(err) == protocol.DestinationFull:
		return failf(protocol.DataVolumeFull, "%s cannot be written: %s. Free space on the volume.", path, plainCause("", err))
	default:
		return failf(protocol.Failed, "%s cannot be written: %s. Check the volume.", path, plainCause("", err))
	}
}
