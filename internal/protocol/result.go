/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"strings"
	"time"
)

const (
	// ResultFile is where Kubernetes reads the result of a container from.
	ResultFile = "/dev/termination-log"
	// MaxResultBytes is what Kubernetes keeps of a termination message.
	MaxResultBytes = 4096
	// MaxOutputBytes of a probe leave room for the rest of the result.
	MaxOutputBytes = 3 << 10

	// MaxFacts bounds what a check may print.
	MaxFacts = 20
	// MaxFactsBytes bounds it, too: what it prints before and after a backup fits into one result.
	MaxFactsBytes = 1 << 10
	// MaxFactName is how many characters the name of a fact may have.
	MaxFactName = 63
)

// Result is what a call reports when it ends: the termination message of its container.
type Result struct {
	Bytes       int64           `json:"bytes,omitempty"`       // raw; of a restore, what the action has read
	TotalBytes  int64           `json:"totalBytes,omitempty"`  // raw; of a restore, what the backup holds
	StoredBytes int64           `json:"storedBytes,omitempty"` // compressed
	SHA256      string          `json:"sha256,omitempty"`      // of the raw bytes
	Started     time.Time       `json:"started,omitzero"`
	Completed   time.Time       `json:"completed,omitzero"`
	Output      json.RawMessage `json:"output,omitempty"` // what a probe printed
	Check       *Check          `json:"check,omitempty"`  // of a backup; nil when it did not run, or does not apply
	Facts       Facts           `json:"facts,omitempty"`  // about the data of a restored copy
	Reason      Reason          `json:"reason"`           // of a failure
	Message     string          `json:"message"`          // a sentence with the cause and what to do
}

// Facts are strings, numbers and booleans about the data of a member, by their names.
type Facts map[string]json.RawMessage

// Check is what the engine's action check printed around a backup, and how it failed.
type Check struct {
	Before  Facts  `json:"before,omitempty"`
	After   Facts  `json:"after,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// DecodeResult reads a termination message.
func DecodeResult(message string) (*Result, error) {
	result := &Result{}
	return result, json.Unmarshal([]byte(message), result)
}

// Encode shortens what is for people until the result fits.
func (r Result) Encode() ([]byte, error) {
	for {
		encoded, err := json.Marshal(r)
		if err != nil || len(encoded) <= MaxResultBytes {
			return encoded, err
		}
		switch excess := len(encoded) - MaxResultBytes; {
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
