/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// install copies this program into a folder atomically.
func install(folder string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	source, err := os.Open(self) //nolint:gosec // our own executable
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only read
	target, err := os.CreateTemp(folder, ".transfer-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	err = errors.Join(err, target.Chmod(0o755), target.Close())
	if err == nil {
		err = os.Rename(target.Name(), filepath.Join(folder, protocol.Program))
	}
	if err != nil {
		return errors.Join(err, os.Remove(target.Name()))
	}
	return nil
}
