/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "encoding/json"

// MarkName is the file name of the mark in a data directory.
const MarkName = ".dbc-restore"

// MarkState is the state of a restore.
type MarkState string

// States of a restore.
const (
	MarkRunning MarkState = "running"
	MarkDone    MarkState = "done"
)

// Mark is a file in a data directory. transfer writes it before the first byte of a restore. It records the restore
// that owns the data, and whether the data is complete.
type Mark struct {
	ID     string    `json:"id"`
	State  MarkState `json:"state"`
	Result Result    `json:"result,omitzero"`
}

// Encode returns the mark as stored.
func (m Mark) Encode() ([]byte, error) { return json.Marshal(m) }

// DecodeMark decodes a mark.
func DecodeMark(content []byte) (*Mark, error) {
	mark := &Mark{}
	return mark, json.Unmarshal(content, mark)
}
