/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// remove deletes a backup, unless anything there belongs to another backup. A missing backup is a success.
func (r *run) remove(ctx context.Context, call *protocol.Delete) error {
	store, err := openStore(ctx, call.At, call.Store)
	if err != nil {
		return err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	r.secrets = store.secrets

	leaves, err := r.inspect(ctx, store, call.ID)
	if err != nil {
		return err
	}
	if !leaves {
		return clearAll(ctx, store)
	}
	if err := markDeleted(ctx, store); err != nil {
		return err
	}
	return r.sweep(ctx, call)
}

// inspect rejects another backup, and reports whether others may refer to this one, or it to others. If another attempt of the deletion
// removes a manifest meanwhile, it repeats the listing.
func (r *run) inspect(ctx context.Context, store *store, id string) (leaves bool, err error) {
	for range maxListings {
		var listed listing
		if listed, err = store.list(ctx, ""); err != nil {
			return false, err
		}
		if err = owned(ctx, store, listed, id); err == nil {
			leaves, err = mayLeave(ctx, store, listed)
		}
		if err == nil || !vanished(ctx, store, listed.manifests()) {
			return leaves, err
		}
	}
	return false, err
}

// vanished reports whether one of the objects that were listed does not exist any more.
func vanished(ctx context.Context, store *store, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		there, err := store.bucket.Exists(ctx, name)
		return err == nil && !there
	})
}

// clearAll removes a backup to which no other one refers.
func clearAll(ctx context.Context, store *store) error {
	if err := store.clear(ctx, "", func(string) bool { return true }); err != nil {
		return err
	}
	return store.removeFolders()
}
