/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func resultOf(stream protocol.Stream) protocol.Result {
	return protocol.Result{
		Bytes: stream.Bytes, StoredBytes: stream.StoredBytes, SHA256: stream.SHA256,
		Started: stream.Started, Completed: stream.Completed,
	}
}

// write writes a result to the termination message file. Outside a pod this file does not exist, and write does not
// create it.
func write(result protocol.Result, path string) error {
	encoded, err := result.Encode()
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	mode := os.O_WRONLY | os.O_TRUNC
	if path != protocol.ResultFile {
		mode |= os.O_CREATE
	}
	file, err := os.OpenFile(path, mode, 0o644) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) && path == protocol.ResultFile {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	_, err = file.Write(encoded)
	return errors.Join(err, file.Close())
}
