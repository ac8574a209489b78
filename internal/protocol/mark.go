/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "encoding/json"

// MarkName is the name of the file in a data directory that holds the mark.
const MarkName = ".dbc-restore"

// MarkState is how far a restore is.
type MarkState string

// The states of a restore.
const (
	MarkRunning MarkState = "running"
	MarkDone    MarkState = "done"
)

// Mark stands in a data directory from before the first byte of a restore on. It says whose the data is, and
// whether all of it is there.
type Mark struct {
	ID     string    `json:"id"`
	State  MarkState `json:"state"`
	Result Result    `json:"result,omitzero"`
}

// Encode returns the mark as it is stored.
func (m Mark) Encode() ([]byte, error) { return json.Marshal(m) }

// DecodeMark reads a mark.
func DecodeMark(content []byte) (*Mark, error) {
	mark := &Mark{}
	return mark, json.Unmarshal(content, mark)
}
