/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

const (
	terminationLog = "/dev/termination-log"
	// maxResultBytes is what Kubernetes keeps of a termination message.
	maxResultBytes = 4096
	// maxOutputBytes of a probe leave room for the rest of the result.
	maxOutputBytes = 3 << 10
)

// Result is what a transfer tells those who started it: the termination message of its container.
type Result struct {
	Bytes       int64           `json:"bytes,omitempty"`       // raw; of a restore, what the action has read
	TotalBytes  int64           `json:"totalBytes,omitempty"`  // raw; of a restore, what the backup holds
	StoredBytes int64           `json:"storedBytes,omitempty"` // compressed
	SHA256      string          `json:"sha256,omitempty"`      // of the raw bytes
	Started     time.Time       `json:"started,omitzero"`
	Completed   time.Time       `json:"completed,omitzero"`
	Output      json.RawMessage `json:"output,omitempty"` // what a probe printed
	Check       *Check          `json:"check,omitempty"`  // of a backup
	Facts       Facts           `json:"facts,omitempty"`  // about the data of a restored copy
	Reason      Reason          `json:"reason"`
	Message     string          `json:"message"`
}

func resultOf(stream Stream) Result {
	return Result{
		Bytes: stream.Bytes, StoredBytes: stream.StoredBytes, SHA256: stream.SHA256,
		Started: stream.Started, Completed: stream.Completed,
	}
}

// encode shortens what is for people until the result fits.
func (r Result) encode() ([]byte, error) {
	for {
		encoded, err := json.Marshal(r)
		if err != nil || len(encoded) <= maxResultBytes {
			return encoded, err
		}
		switch excess := len(encoded) - maxResultBytes; {
		case r.Message != "":
			r.Message = shortened(r.Message, excess)
		case r.Output != nil:
			r.Output = nil
		case r.Check != nil && r.Check.Problem != "":
			check := *r.Check
			check.Problem, r.Check = shortened(check.Problem, excess), &check
		default:
			return encoded, nil
		}
	}
}

// shortened is a text with so many bytes less. Each byte of it takes at least one of the JSON.
func shortened(text string, excess int) string {
	keep := max(0, len(text)-excess-len("…"))
	text = strings.ToValidUTF8(text[:keep], "")
	if keep > 0 {
		text += "…"
	}
	return text
}

// write puts the result where Kubernetes reads it. Outside a pod there is no such file, and none is made.
func (r Result) write(path string) error {
	encoded, err := r.encode()
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	mode := os.O_WRONLY | os.O_TRUNC
	if path != terminationLog {
		mode |= os.O_CREATE
	}
	file, err := os.OpenFile(path, mode, 0o644) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) && path == terminationLog {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	_, err = file.Write(encoded)
	return errors.Join(err, file.Close())
}
