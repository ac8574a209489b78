/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
)

// remove deletes a backup, provided that nothing there says that it is another's. That there is none is success.
func remove(ctx context.Context, run *run) (Result, error) {
	store, err := openStore(ctx, run.location, run.store)
	if err != nil {
		return Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	run.secrets = store.secrets

	listed, err := store.list(ctx, "")
	if err != nil {
		return Result{}, err
	}
	if err := owned(ctx, store, listed, run.id); err != nil {
		return Result{}, err
	}
	if err := store.clear(ctx, "", func(string) bool { return true }); err != nil {
		return Result{}, err
	}
	return Result{}, store.removeFolders()
}
