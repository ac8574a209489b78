/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestAListingSurvivesFilesThatOtherAttemptsRemove(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "shop")
	store, err := openStore(t.Context(), "file:///shop", protocol.Store{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() {
		var failed error
		for name := filepath.Join(folder, "piece"); failed == nil && !stop.Load(); {
			failed = errors.Join(os.WriteFile(name, nil, 0o600), os.Remove(name))
		}
		done <- failed
	}()
	for range 2000 {
		if _, err := store.list(t.Context(), ""); err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
