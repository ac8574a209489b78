/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// A deleted backup to whose streams others refer is marked, and loses its manifest. Each deletion then sweeps: it removes what no backup
// needs from all marked folders. What no backup needs once, none will ever need, so a sweep that was interrupted does no harm, and two
// at a time neither.

// mayLeave reports whether other backups may refer to this one, or it to others.
func mayLeave(ctx context.Context, store *store, listed listing) (bool, error) {
	if _, marked := listed[protocol.DeletedName]; marked || slices.ContainsFunc(listed.names(), protocol.IsHold) {
		return true, nil
	}
	for _, name := range listed.manifests() {
		manifest, err := readManifest(ctx, store, name)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(manifest.Streams, func(s protocol.Stream) bool { return s.Index != nil }) {
			return true, nil
		}
	}
	return false, nil
}

// markDeleted ends a backup. Its streams stay.
func markDeleted(ctx context.Context, store *store) error {
	if err := store.create(ctx, protocol.DeletedName, []byte("{}\n")); err != nil && !errors.Is(err, errExists) {
		return err
	}
	return store.remove(ctx, []string{protocol.ManifestName})
}

// maxSweeps bounds the repetitions while other backups are deleted.
const maxSweeps = 20

var errVanished = errors.New("a backup was deleted meanwhile")

// sweep removes what no backup needs from the folders of deleted backups beside the one that was deleted.
func (r *run) sweep(ctx context.Context, call *protocol.Delete) error {
	around, err := openStore(ctx, protocol.Beside(call.At, ""), call.Store)
	if err != nil {
		return err
	}
	defer around.close() //nolint:errcheck // nothing is pending
	s := &sweep{Delete: call, around: around}
	for range maxSweeps {
		if err := s.survey(ctx); err != nil || len(s.marked) == 0 {
			return err
		}
		err := s.need(ctx)
		if errors.Is(err, errVanished) {
			continue
		}
		if err == nil {
			return s.removeUnneeded(ctx)
		}
		if failure := failureOf(err); failure.exitCode() != protocol.ExitTransient && ctx.Err() == nil {
			r.log.Warn("Data of deleted backups stays, because it is unknown who needs it.", "problem", failure.Message)
			return nil
		}
		return err
	}
	return failf(protocol.DestinationUnreachable, "Backups in %s were deleted all the time. The next attempt removes what no backup needs.",
		around.URL(""))
}

// sweep is one look at all backups of a cluster. The order is important: a backup names what it holds before it looks for marks, so marks
// are read before holds.
type sweep struct {
	*protocol.Delete
	around *store
	// marked are the folders of deleted backups, and others those of backups. The value reports whether the folder has anything that may
	// record what is needed.
	marked []string
	others map[string]bool
	needed *reuse.Needed
}

// survey looks for marks.
func (s *sweep) survey(ctx context.Context) error {
	s.marked, s.others, s.needed = nil, map[string]bool{}, &reuse.Needed{}
	all, err := s.around.folders(ctx)
	for _, folder := range all {
		archives, err := s.around.archives(ctx, folder)
		if err != nil {
			return err
		}
		if archives {
			continue
		}
		folder = path.Clean(folder)
		listed, err := s.list(ctx, folder)
		if err != nil {
			return err
		}
		if _, is := listed[protocol.DeletedName]; is {
			s.marked = append(s.marked, folder)
		} else {
			s.others[folder] = len(recordsOf(listed)) > 0
		}
	}
	return err
}

// need reads what the backups that are not deleted need. If one that had a record no longer has one, another backup that refers to it
// may have begun after it was read.
func (s *sweep) need(ctx context.Context) error {
	for _, folder := range slices.Sorted(maps.Keys(s.others)) {
		listed, err := s.list(ctx, folder)
		if err != nil {
			return err
		}
		records := recordsOf(listed)
		if _, marked := listed[protocol.DeletedName]; marked || s.others[folder] && len(records) == 0 {
			return errVanished
		}
		for _, name := range records {
			if err := s.add(ctx, folder, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordsOf are the objects that record what a backup needs: its manifest if it is complete, else the manifests of members and the holds.
func recordsOf(listed listing) []string {
	if _, complete := listed[protocol.ManifestName]; complete {
		return []string{protocol.ManifestName}
	}
	return slices.DeleteFunc(listed.names(), func(name string) bool { return !protocol.IsMemberManifest(name) && !protocol.IsHold(name) })
}

func (s *sweep) open(ctx context.Context, folder string) (*store, error) {
	return openStore(ctx, protocol.Beside(s.At, folder), s.Store)
}

func (s *sweep) list(ctx context.Context, folder string) (listing, error) {
	store, err := s.open(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer store.close() //nolint:errcheck // only read
	return store.list(ctx, "")
}

// add adds what an object records.
func (s *sweep) add(ctx context.Context, folder, name string) error {
	store, err := s.open(ctx, folder)
	if err != nil {
		return err
	}
	defer store.close() //nolint:errcheck // only read
	err = addNeeds(ctx, store, name, s.needed)
	if err != nil && vanished(ctx, store, []string{name}) {
		return errVanished
	}
	return err
}

func addNeeds(ctx context.Context, store *store, name string, needs *reuse.Needed) error {
	if protocol.IsHold(name) {
		held, err := readHold(ctx, store, name)
		needs.Hold(held)
		return err
	}
	manifest, err := readManifest(ctx, store, name)
	if err == nil {
		needs.Add(manifest)
	}
	return err
}

// removeUnneeded removes from each marked folder what no backup needs, and its mark last.
func (s *sweep) removeUnneeded(ctx context.Context) error {
	for _, folder := range s.marked {
		store, err := s.open(ctx, folder)
		if err != nil {
			return err
		}
		err = store.clear(ctx, "", func(name string) bool { return name != protocol.DeletedName && !s.needed.Object(folder, name) })
		if err == nil && !s.needed.Folder(folder) {
			err = clearAll(ctx, store)
		}
		if err := errors.Join(err, store.close()); err != nil {
			return err
		}
	}
	return nil
}
