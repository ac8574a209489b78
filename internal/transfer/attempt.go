/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Several attempts of a backup may run at the same time. For example, a pod continues on a node that lost the API
// server but not the destination, and the Job starts another pod. Each attempt uses its own names of pieces and removes
// only its own pieces. The first manifest decides which attempt becomes the backup.

// newAttempt returns a random ID of an attempt.
func newAttempt() string { return fmt.Sprintf("%08x", rand.Uint32()) }

// discard removes the objects of this attempt, as far as possible.
func (r *backupRun) discard(ctx context.Context, store *store) {
	// The context of the transfer may have ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	own := func(name string) bool { return strings.Contains(path.Base(name), protocol.AttemptMark(r.attempt)+".") }
	if err := store.clear(ctx, protocol.MemberFolder(r.Member), own); err != nil {
		r.log.Warn("This attempt could not remove all objects that it stored. The deletion of the backup removes the rest.", "error", err.Error())
	}
}

// publish writes a manifest and returns it. If another attempt has already written one, publish returns that one. After
// a failed write the manifest may still appear, so none of its pieces may be removed.
func (r *backupRun) publish(ctx context.Context, store *store, name string, streams []protocol.Stream) (*protocol.Manifest, error) {
	manifest := r.manifest(streams)
	content, err := manifest.Encode()
	if err != nil {
		return nil, err
	}
	switch err := store.create(ctx, name, content); {
	case err == nil:
		return manifest, r.held(ctx, store, name, streams)
	case !errors.Is(err, errExists):
		return manifest, err
	}
	return r.published(ctx, store, name) // our own manifest, if the response to a previous request was lost
}

// held withdraws a manifest if the backup was deleted before it was written: then nothing held the earlier streams to which it refers. So
// a deletion sees either the hold, or the manifest.
func (r *backupRun) held(ctx context.Context, store *store, name string, streams []protocol.Stream) error {
	if !slices.ContainsFunc(streams, func(s protocol.Stream) bool { return s.Order != nil }) {
		return nil
	}
	listed, err := store.list(ctx, "")
	if err != nil {
		return err
	}
	_, marked := listed[protocol.DeletedName]
	for _, stream := range streams {
		hold := stream.HoldName()
		if name == protocol.ManifestName {
			hold = protocol.MemberManifest(stream.Member)
		}
		if _, is := listed[hold]; marked || stream.Order != nil && !is {
			return errors.Join(failf(protocol.BackupMissing, "%s was deleted while it was written. Create another backup.", store.URL("")),
				store.remove(ctx, []string{name}))
		}
	}
	return nil
}

// published reads a manifest of this backup. It rejects the manifest of an attempt with another engine or image. The
// DatabaseBackup records only one of each, and only these are expected to restore the backup. The attempt that wrote the manifest may have
// ended, or lost the response, before it knew whether the backup was deleted.
func (r *backupRun) published(ctx context.Context, store *store, name string) (*protocol.Manifest, error) {
	manifest, err := readManifest(ctx, store, name)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{protocol.AboutEngine, protocol.AboutImage} {
		if was, is := manifest.About[key], r.About[key]; was != "" && is != "" && was != is {
			return nil, failf(protocol.VersionMismatch, "%s was stored with %s %s, but this attempt runs with %s. Create another backup.",
				store.URL(name), key, was, is)
		}
	}
	if err := ownedBy(manifest, store, name, r.ID); err != nil {
		return nil, err
	}
	return manifest, r.held(ctx, store, name, manifest.Streams)
}
