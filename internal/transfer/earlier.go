/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// earlier are the streams of earlier backups to which a backup refers.
//
// Their backups may be deleted at any time, also by an attempt on a node that lost the API server. So a backup first names their folders in
// an object of its own, the hold. Then it makes sure that the last backup is not deleted. A deletion first marks the backup as deleted, and
// then looks for holds and manifests. So one of the two sees the other. See sweep.
type earlier struct {
	sources []protocol.Source
	stores  []*store
	known   *reuse.Known
	log     *slog.Logger
}

// hold is the content of the object in which an attempt names the folders to which it may refer.
type hold struct {
	Folders []string `json:"folders"`
}

// lookBack returns what the backup can refer to, or nil for nothing. A backup that cannot be referred to is no reason to fail: the data
// is stored again.
func (r *backupRun) lookBack(ctx context.Context, store *store, stream *protocol.Stream, patient idleTimeout) (*earlier, error) {
	if r.Reuse == "" {
		return nil, nil //nolint:nilnil // nothing
	}
	e := &earlier{log: r.log}
	problem, err := e.open(ctx, r, func(content []byte) error { return store.create(ctx, stream.HoldName(), content) }, patient)
	if err == nil && problem == "" {
		return e, nil
	}
	e.close()
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		problem = failureOf(err).Message
	}
	r.log.Warn("This backup stores everything, because it cannot refer to the last one.", "earlier", r.Reuse, "problem", problem)
	return nil, nil //nolint:nilnil // nothing
}

// open finds the streams. A problem is why there are none.
func (e *earlier) open(ctx context.Context, r *backupRun, hold func([]byte) error, patient idleTimeout) (problem string, err error) {
	last, err := openStore(ctx, r.Reuse, r.Store)
	if err != nil {
		return "", err
	}
	defer last.close() //nolint:errcheck // only read
	manifest, err := readManifest(ctx, last, protocol.ManifestName)
	if err != nil {
		return "", err
	}
	before, found := manifest.Stream(r.Member)
	if !found || manifest.Members != r.Members {
		return fmt.Sprintf("it has %d members", manifest.Members), nil
	}
	folder := path.Base(last.Path)
	e.sources = reuse.SourcesOf(folder, before, r.keys.recipient())
	if len(e.sources) == 0 {
		return "it has no index for this key", nil
	}
	if err := hold(holdOf(folder, e.sources)); err != nil {
		return "", err
	}
	if deleted, err := isDeleted(ctx, last); err != nil || deleted {
		return "it is being deleted", err
	}
	return "", e.openSources(ctx, r, patient)
}

func holdOf(last string, sources []protocol.Source) []byte {
	all := hold{[]string{last}}
	for _, source := range sources {
		all.Folders = append(all.Folders, source.Folder)
	}
	content, _ := json.Marshal(all) // cannot fail
	return content
}

// isDeleted reports whether a complete backup was deleted. One listing decides: the mark is written before the manifest is deleted.
func isDeleted(ctx context.Context, store *store) (bool, error) {
	listed, err := store.list(ctx, "")
	_, complete := listed[protocol.ManifestName]
	_, marked := listed[protocol.DeletedName]
	return !complete || marked, err
}

// openSources opens the indexes of the streams, whose objects must all exist.
func (e *earlier) openSources(ctx context.Context, r *backupRun, patient idleTimeout) error {
	of := shelves{ctx, r.keys, patient, &counter{}}
	indexes := make([]*reuse.StreamIndex, 0, len(e.sources))
	for _, source := range e.sources {
		store, err := openStore(ctx, protocol.Beside(r.To, source.Folder), r.Store)
		if err != nil {
			return err
		}
		e.stores = append(e.stores, store)
		listed, err := store.list(ctx, "")
		if err == nil {
			err = check(&source.Stream, store, listed)
		}
		if err != nil {
			return err
		}
		// A length that has changed would make all later backups refer to wrong bytes.
		if err := of.verify(store, *source.Stream.Index); err != nil {
			return err
		}
		index, err := of.index(store, &source.Stream)
		if err != nil {
			return err
		}
		indexes = append(indexes, index)
	}
	var err error
	if e.known, err = reuse.NewKnown(indexes); err != nil {
		return err
	}
	for n, source := range e.sources {
		if has := e.known.Bytes(n); has != source.Stream.NewBytes {
			return failf(protocol.BackupCorrupt, "The index of %s has %d bytes, and the stream %d.", source.Folder, has, source.Stream.NewBytes)
		}
	}
	return nil
}

// find returns where an earlier stream has the chunk. If the indexes cannot be read any more, the rest of the data is stored again.
func (e *earlier) find(chunk reuse.Chunk) (run reuse.Run, found bool) {
	if e == nil || e.known == nil {
		return reuse.Run{}, false
	}
	run, found, err := e.known.Find(chunk)
	if err != nil {
		e.log.Warn("This backup stores the rest of the data, because it cannot read an index.", "problem", err.Error())
		e.known = nil
	}
	return run, found && err == nil
}

// used are the streams that have a part of the data.
func (e *earlier) used(order *reuse.OrderWriter) (used []protocol.Source) {
	for n, source := range e.sources {
		source.Number, source.UsedBytes = n+1, min(order.Used(n+1), source.Stream.NewBytes)
		if source.UsedBytes > 0 {
			used = append(used, source)
		}
	}
	return used
}

func (e *earlier) close() {
	if e == nil {
		return
	}
	for _, store := range e.stores {
		_ = store.close() // only read
	}
}

// readHold reads the folders that an attempt of a backup may refer to.
func readHold(ctx context.Context, store *store, name string) ([]string, error) {
	content, err := store.read(ctx, name)
	if err != nil {
		return nil, err
	}
	var is hold
	if err := json.Unmarshal(content, &is); err != nil {
		return nil, failf(protocol.ManifestInvalid, "%s cannot be read: %v.", store.URL(name), err)
	}
	return is.Folders, nil
}
