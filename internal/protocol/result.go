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
	// ResultFile is the file from which Kubernetes reads the termination message of a container.
	ResultFile = "/dev/termination-log"
	// MaxResultBytes is the maximum size of a termination message.
	MaxResultBytes = 4096
	// MaxOutputBytes of a probe leave room for the rest of the result.
	MaxOutputBytes = 3 << 10

	// MaxFacts is the maximum number of facts that a check may print.
	MaxFacts = 20
	// MaxFactsBytes is their maximum size: the facts before and after a backup must fit into one result.
	MaxFactsBytes = 1 << 10
	// MaxFactName is the maximum number of characters in the name of a fact.
	MaxFactName = 63
)

// Result is the result of a call: the termination message of its container.
type Result struct {
	Bytes       int64           `json:"bytes,omitempty"`       // uncompressed; of a restore: read by the action
	TotalBytes  int64           `json:"totalBytes,omitempty"`  // uncompressed; of a restore: stored in the backup
	StoredBytes int64           `json:"storedBytes,omitempty"` // compressed
	SHA256      string          `json:"sha256,omitempty"`      // of the uncompressed bytes
	Started     time.Time       `json:"started,omitzero"`
	Completed   time.Time       `json:"completed,omitzero"`
	Output      json.RawMessage `json:"output,omitempty"` // the output of a probe
	Check       *Check          `json:"check,omitempty"`  // of a backup; nil if the check did not run or does not apply
	Facts       Facts           `json:"facts,omitempty"`  // about the restored data
	// RecoveredTo is a time: a recovery has every commit until then. It began at Restored, when the data was that of the backup.
	RecoveredTo time.Time `json:"recoveredTo,omitzero"`
	// LastCommit is the time of the last commit that the recovery has replayed. It is zero if the action does not report it.
	LastCommit time.Time `json:"lastCommit,omitzero"`
	Restored   time.Time `json:"restored,omitzero"`
	// Recoverable is what a Window has found.
	Recoverable *Recoverable `json:"recoverable,omitempty"`
	// Found is what a Search has found.
	Found *Found `json:"found,omitempty"`
	// Objects are the answers of Objects.
	Objects *ObjectAnswers `json:"objects,omitempty"`
	Reason  Reason         `json:"reason"`  // of a failure
	Message string         `json:"message"` // a sentence with the cause and what to do
}

// Facts are strings, numbers and booleans about the data of a member, by name.
type Facts map[string]json.RawMessage

// Check has the facts that the engine's check action printed before and after a backup, and its failure.
type Check struct {
	Before  Facts  `json:"before,omitempty"`
	After   Facts  `json:"after,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// DecodeResult decodes a termination message.
func DecodeResult(message string) (*Result, error) {
	result := &Result{}
	return result, json.Unmarshal([]byte(message), result)
}

// Encode shortens the result until it fits.
func (r Result) Encode() ([]byte, error) {
	for {
		encoded, err := json.Marshal(r)
		if err != nil || len(encoded) <= MaxResultBytes || !shorten(&r, len(encoded)-MaxResultBytes) {
			return encoded, err
		}
	}
}

// shorten removes something that the result can lack; it reports whether there was anything.
func shorten(r *Result, excess int) bool {
	switch {
	case r.Message != "":
		r.Message = shortened(r.Message, excess)
	case r.Output != nil:
		r.Output = nil
	case r.Objects != nil && len(r.Objects.Answers) > 0:
		r.Objects = r.Objects.without()
	case r.Recoverable != nil && len(r.Recoverable.Unusable) > 0:
		r.Recoverable = r.Recoverable.without()
	case r.Check != nil && r.Check.Problem != "":
		check := *r.Check
		check.Problem, r.Check = shortened(check.Problem, excess), &check
	default:
		return false
	}
	return true
}

// shortened removes at least excess bytes from a text. A byte of text has at least one byte in JSON.
func shortened(text string, excess int) string {
	keep := max(0, len(text)-excess-len("…"))
	text = strings.ToValidUTF8(text[:keep], "")
	if keep > 0 {
		text += "…"
	}
	return text
}
