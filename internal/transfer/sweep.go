/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gocloud.dev/blob"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// A deleted backup to whose streams others refer is marked, and loses its manifest. Each deletion then sweeps: it removes what no backup
// needs from all marked folders. What no backup needs once, none will ever need, so a sweep that was interrupted does no harm, and two
// at a time neither.

// mayLeave reports whether other backups may refer to this one: it is complete and has an index, or it was marked before.
func mayLeave(ctx context.Context, store *store, listed listing) (bool, error) {
	if _, marked := listed[protocol.DeletedName]; marked {
		return true, nil
	}
	if _, complete := listed[protocol.ManifestName]; !complete {
		return false, nil
	}
	manifest, err := readManifest(ctx, store, protocol.ManifestName)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(manifest.Streams, func(s protocol.Stream) bool { return s.Index != nil }), nil
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
	around, err := openStore(ctx, beside(call.At, ""), call.Store)
	if err != nil {
		return err
	}
	defer around.close() //nolint:errcheck // nothing is pending
	for range maxSweeps {
		var marked []string
		var needs *reuse.Needed
		// The order is important: a backup names its holds before it looks for marks.
		if marked, err = r.markedFolders(ctx, around); err != nil || len(marked) == 0 {
			return err
		}
		if needs, err = r.needs(ctx, call, around, marked); errors.Is(err, errVanished) {
			continue
		}
		if failure, unreadable := errors.AsType[*Error](err); unreadable && failure.Reason == protocol.ManifestInvalid {
			r.log.Warn("Data of deleted backups stays, because a manifest beside them cannot be read.", "problem", failure.Message)
			return nil
		}
		if err != nil {
			return err
		}
		return r.removeUnneeded(ctx, call, marked, needs)
	}
	return failf(protocol.DestinationUnreachable, "Other backups in %s were deleted all the time.", around.URL(""))
}

// folders returns the folders of backups.
func folders(ctx context.Context, around *store) (names []string, err error) {
	if err := around.readable(); err != nil {
		return nil, err
	}
	objects := around.bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, around.failure("list", "", err)
		}
		if name := strings.TrimSuffix(object.Key, "/"); object.IsDir && !protocol.IsArchiveFolder(name) {
			names = append(names, name)
		}
	}
}

// markedFolders returns the folders of deleted backups.
func (r *run) markedFolders(ctx context.Context, around *store) (marked []string, err error) {
	all, err := folders(ctx, around)
	for _, folder := range all {
		is, err := around.bucket.Exists(ctx, folder+"/"+protocol.DeletedName)
		if err != nil {
			return nil, around.failure("read", folder+"/"+protocol.DeletedName, err)
		}
		if is {
			marked = append(marked, folder)
		}
	}
	return marked, err
}

// needs returns what the backups that are not deleted need.
func (r *run) needs(ctx context.Context, call *protocol.Delete, around *store, marked []string) (*reuse.Needed, error) {
	all, err := folders(ctx, around)
	needs := &reuse.Needed{}
	for _, folder := range all {
		if err == nil && !slices.Contains(marked, folder) {
			err = r.needsOf(ctx, call, folder, needs)
		}
	}
	return needs, err
}

// needsOf adds what one backup needs: by its manifest if it is complete, else by the manifests of members and by holds.
func (r *run) needsOf(ctx context.Context, call *protocol.Delete, folder string, needs *reuse.Needed) error {
	store, err := openStore(ctx, beside(call.At, folder), call.Store)
	if err != nil {
		return err
	}
	defer store.close() //nolint:errcheck // only read
	listed, err := store.list(ctx, "")
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(listed)), func(name string) bool {
		return !protocol.IsMemberManifest(name) && !protocol.IsHold(name)
	})
	if _, complete := listed[protocol.ManifestName]; complete {
		names = []string{protocol.ManifestName}
	}
	for _, name := range names {
		if err := addNeeds(ctx, store, name, needs); err != nil {
			if vanished(ctx, store, []string{name}) {
				return errVanished
			}
			return err
		}
	}
	return nil
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
func (r *run) removeUnneeded(ctx context.Context, call *protocol.Delete, marked []string, needs *reuse.Needed) error {
	for _, folder := range marked {
		store, err := openStore(ctx, beside(call.At, folder), call.Store)
		if err != nil {
			return err
		}
		err = store.clear(ctx, "", func(name string) bool { return name != protocol.DeletedName && !needs.Object(folder, name) })
		if err == nil && !needs.Folder(folder) {
			err = clearAll(ctx, store)
		}
		if err := errors.Join(err, store.close()); err != nil {
			return fmt.Errorf("remove what no backup needs: %w", err)
		}
	}
	return nil
}
