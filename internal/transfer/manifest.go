/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// readManifest reads and validates a manifest.
func readManifest(ctx context.Context, store *store, name string) (*protocol.Manifest, error) {
	content, err := store.read(ctx, name)
	if err != nil {
		return nil, err
	}
	manifest, err := protocol.DecodeManifest(content)
	if err != nil {
		return nil, failf(protocol.ManifestInvalid, "The manifest %s %v. Create another backup.", store.URL(name), err)
	}
	return manifest, nil
}

// check compares the objects of a stream with a listing.
func check(stream *protocol.Stream, store *store, listed listing) error {
	pieces := stream.Pieces
	for _, object := range []*protocol.Piece{stream.Index, stream.Order} {
		if object != nil {
			pieces = append(slices.Clip(pieces), *object)
		}
	}
	for _, piece := range pieces {
		bytes, found := listed[piece.Name]
		switch {
		case !found:
			return failf(protocol.BackupCorrupt, "%s is missing. Create another backup.", store.URL(piece.Name))
		case bytes != piece.Bytes:
			return failf(protocol.BackupCorrupt, "%s has %d bytes instead of %d. Create another backup.", store.URL(piece.Name), bytes, piece.Bytes)
		}
	}
	return nil
}

// owned rejects a folder with any sign of another backup.
func owned(ctx context.Context, store *store, listed listing, id string) error {
	for _, name := range listed.manifests() {
		manifest, err := readManifest(ctx, store, name)
		if err != nil {
			return err
		}
		if err := ownedBy(manifest, store, name, id); err != nil {
			return err
		}
	}
	return nil
}

// ownedBy rejects the manifest of another backup.
func ownedBy(manifest *protocol.Manifest, store *store, name, id string) error {
	if manifest.ID != id {
		return failf(protocol.IDMismatch, "%s belongs to the backup %s, not to %s. The transfer changed nothing there.", store.URL(name),
			manifest.ID, id)
	}
	return nil
}
