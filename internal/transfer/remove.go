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

	listed, err := store.list(ctx, "")
	if err != nil {
		return err
	}
	if err := owned(ctx, store, listed, call.ID); err != nil {
		return err
	}
	leaves, err := mayLeave(ctx, store, listed)
	if err != nil {
		return err
	}
	if leaves {
		if err := markDeleted(ctx, store); err != nil {
			return err
		}
	} else if err := clearAll(ctx, store); err != nil {
		return err
	}
	if !leaves && !slices.ContainsFunc(listed.names(), protocol.IsHold) {
		return nil
	}
	return r.sweep(ctx, call)
}

// clearAll removes a backup to which no other one refers.
func clearAll(ctx context.Context, store *store) error {
	if err := store.clear(ctx, "", func(string) bool { return true }); err != nil {
		return err
	}
	return store.removeFolders()
}
