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
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// attempts of a backup may run at the same time: a pod on a node that is cut off from the API server, but not from the
// destination, continues after its successor has started. Every attempt gives its pieces names of its own and removes
// no others. The first manifest that is written decides which attempt is the backup.

// newAttempt returns the id of an attempt.
func newAttempt() string { return fmt.Sprintf("%08x", rand.Uint32()) }

// discard removes what this attempt has stored, and nothing of another one. It does what it can.
func (r *backupRun) discard(ctx context.Context, store *store) {
	// The context of the transfer may have ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	own := func(name string) bool { return strings.Contains(path.Base(name), protocol.AttemptMark(r.attempt)+".") }
	if err := store.clear(ctx, protocol.MemberFolder(r.Member), own); err != nil {
		r.log.Warn("This attempt could not remove everything that it stored. The rest is removed when the backup is deleted.", "error", err.Error())
	}
}

// publish writes a manifest and returns it, or returns the manifest of another attempt that is there already.
// After a failure the manifest may still come into being: then nothing that it names may be removed.
func (r *backupRun) publish(ctx context.Context, store *store, name string, streams []protocol.Stream) (*protocol.Manifest, error) {
	manifest := r.manifest(streams)
	content, err := manifest.Encode()
	if err != nil {
		return nil, err
	}
	if err := store.create(ctx, name, content); !errors.Is(err, errExists) {
		return manifest, err
	}
	return r.published(ctx, store, name) // ours, if the answer to an earlier request was lost
}

// published reads a manifest of this backup. One that an attempt wrote for another engine or image is refused: the
// record of a backup names one of each, and only these can be expected to restore it.
func (r *backupRun) published(ctx context.Context, store *store, name string) (*protocol.Manifest, error) {
	manifest, err := readManifest(ctx, store, name)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{protocol.AboutEngine, protocol.AboutImage} {
		if was, is := manifest.About[key], r.About[key]; was != "" && is != "" && was != is {
			return nil, failf(protocol.VersionMismatch, "%s was stored with %s %s, and this attempt runs with %s. Take another backup.", store.URL(name), key, was, is)
		}
	}
	return manifest, ownedBy(manifest, store, name, r.ID)
}
