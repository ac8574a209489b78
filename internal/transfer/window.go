/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// windowRun is a run that finds out what can be recovered, and deletes the rest.
type windowRun struct {
	*run
	*protocol.Window
	store  *store
	folder string // of the archive, with a slash
}

const (
	// windowPause and maxWindowPause are the times between two looks at an archive that does not have everything of the newest backup yet.
	// Each look lists the whole archive.
	windowPause, maxWindowPause = 5 * time.Second, time.Minute
	// removalLimit bounds the deletion of log, which takes a request for each object. The next run goes on.
	removalLimit = 30 * time.Minute
	// maxText bounds a text: the whole result has to fit into a termination message.
	maxText = 512
)

func (w *windowRun) do(ctx context.Context) (result protocol.Result, err error) {
	result.Started = time.Now().UTC()
	if w.store, err = openStore(ctx, w.Of, w.Store); err != nil {
		return result, err
	}
	defer w.store.close() //nolint:errcheck // nothing is pending
	w.secrets, w.folder = w.store.secrets, protocol.ArchiveFolder(w.ID)+"/"
	bases, unread, err := w.bases(ctx)
	if err != nil {
		return result, err
	}
	listed, err := w.await(ctx, bases)
	if err != nil {
		return result, err
	}
	files := archive.Read(w.archived(listed))
	needs := files.Retained(bases, w.since(files))
	removed, left := w.remove(ctx, listed, unread, needs.From)
	found := w.judge(bases, listed)
	found.Unread, found.Removed, found.Left = shortened(unread), removed, shortened(left)
	if unread == "" && len(needs.Backups) <= protocol.MaxNeeded {
		found.Needed = needs.Backups
	}
	result.Completed, result.Recoverable = time.Now().UTC(), &found
	return result, ctx.Err()
}

// since is the beginning of the window; zero for none. Of two clocks, the one that is behind counts.
func (w *windowRun) since(files archive.Listing) time.Time {
	if w.Keep == 0 {
		return time.Time{}
	}
	now := time.Now()
	if newest := files.Newest(); newest.Before(now) {
		now = newest
	}
	return now.Add(-w.Keep)
}

// remove deletes the log before a file, and takes it from the list. It deletes nothing while a backup that may need it is unknown. Left is
// why something was not deleted: nothing depends on it, and the next run retries.
func (w *windowRun) remove(ctx context.Context, listed listing, unread string, from int64) (removed int, left string) {
	if !w.Remove || unread != "" {
		return 0, ""
	}
	end := time.Now().Add(removalLimit)
	for _, name := range archive.Before(w.archived(listed), from) {
		if time.Now().After(end) {
			return removed, fmt.Sprintf("there is too much for %s, and the next Job goes on", removalLimit)
		}
		if err := w.store.bucket.Delete(ctx, w.folder+name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return removed, failureOf(w.store.failure("delete", w.folder+name, err)).Message
		}
		delete(listed, w.folder+name)
		removed++
	}
	return removed, ""
}

func shortened(cause string) string { return cause[:min(len(cause), maxText)] }

// bases are the complete backups of the cluster that begin in its archive. Unread is why some could not be read; "" for none.
func (w *windowRun) bases(ctx context.Context) (bases []archive.BaseBackup, unread string, err error) {
	folders, err := w.store.folders(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, folder := range folders {
		base, err := w.base(ctx, folder)
		switch {
		case err == nil:
		case failureOf(err).exitCode() == protocol.ExitTransient || ctx.Err() != nil:
			return nil, "", err
		default:
			unread = failureOf(err).Message
			w.log.Warn(unread)
		}
		if base.Start != "" {
			bases = append(bases, base)
		}
	}
	return bases, unread, nil
}

// base is the backup in a folder; the zero value if it has none of the cluster that begins in the archive.
func (w *windowRun) base(ctx context.Context, folder string) (base archive.BaseBackup, err error) {
	if archives, err := w.store.archives(ctx, folder); archives || err != nil {
		return base, err // an archive can have many objects
	}
	listed, err := w.store.list(ctx, folder)
	if err != nil {
		return base, err
	}
	if _, complete := listed[folder+protocol.ManifestName]; !complete {
		return base, nil
	}
	manifest, err := readManifest(ctx, w.store, folder+protocol.ManifestName)
	if err != nil || manifest.About[protocol.AboutClusterUID] != w.ID || len(manifest.Streams) != 1 {
		return base, err
	}
	base, damage := baseOf(manifest, w.store, folder, listed)
	if damage != nil {
		w.log.Warn(fmt.Sprintf("The backup %s cannot be restored.", w.store.URL(path.Clean(folder))), "cause", failureOf(damage).Message)
	}
	base.Trusted = base.Trusted && slices.Contains(w.Trusted, base.ID)
	base.Named = slices.Contains(w.Named, base.ID)
	return base, nil
}

// baseOf is a backup of one stream in a folder. It is trusted if all its objects are there.
func baseOf(manifest *protocol.Manifest, store *store, folder string, listed listing) (base archive.BaseBackup, damage error) {
	backup := listing{}
	for name, size := range listed {
		backup[strings.TrimPrefix(name, folder)] = size
	}
	stream := &manifest.Streams[0]
	damage = check(stream, store, backup)
	return archive.BaseBackup{ID: manifest.ID, Start: archiveFile(stream), Ended: stream.Completed, Trusted: damage == nil}, damage
}

// await lists the archive when it has everything of the newest backup, or when the patience ends.
func (w *windowRun) await(ctx context.Context, bases []archive.BaseBackup) (listed listing, err error) {
	wait := windowPause
	for deadline := time.Now().Add(w.Patience); ; wait = min(2*wait, maxWindowPause) {
		if listed, err = w.store.list(ctx, w.folder); err != nil {
			return nil, err
		}
		spans, based := archive.Read(w.archived(listed)).Spans(bases)
		if ctx.Err() != nil || time.Now().After(deadline) || len(bases) == 0 || based && reaches(spans, bases) {
			return listed, ctx.Err()
		}
		pause(ctx, wait)
	}
}

// reaches reports whether the newest moment is after all backups.
func reaches(spans []archive.Span, bases []archive.BaseBackup) bool {
	for _, base := range bases {
		if len(spans) == 0 || spans[len(spans)-1].Newest.Before(base.Ended) {
			return false
		}
	}
	return true
}

// archived are the names of the objects in the archive.
func (w *windowRun) archived(listed listing) (names []string) {
	for _, name := range listed.names() {
		names = append(names, strings.TrimPrefix(name, w.folder))
	}
	return names
}

// judge returns what can be recovered.
func (w *windowRun) judge(bases []archive.BaseBackup, listed listing) protocol.Recoverable {
	files := archive.Read(w.archived(listed))
	spans, based := files.Spans(bases)
	found := protocol.Recoverable{Based: based, Current: based && reaches(spans, bases)}
	for _, size := range listed {
		found.StoredBytes += size
	}
	found.Unusable = w.unusable(bases, files.Usable(bases))
	for _, span := range spans[max(0, len(spans)-protocol.MaxSpans):] {
		found.Spans = append(found.Spans, protocol.Span{Oldest: span.Oldest.UTC(), Newest: span.Newest.UTC()})
	}
	return found
}

// unusable are the IDs of the newest backups that the operator trusts, but no recovery can start with them.
func (w *windowRun) unusable(bases []archive.BaseBackup, usable []string) (ids []string) {
	newest := slices.SortedFunc(slices.Values(bases), func(a, b archive.BaseBackup) int { return b.Ended.Compare(a.Ended) })
	for _, b := range newest {
		if slices.Contains(w.Trusted, b.ID) && !slices.Contains(usable, b.ID) && len(ids) < protocol.MaxUnusable {
			ids = append(ids, b.ID)
		}
	}
	return ids
}
