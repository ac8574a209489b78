/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

const (
	// ManifestFormat is the format that transfer writes. Format 2 adds the attempt to the names of pieces.
	ManifestFormat = 2
	firstFormat    = 1
)

// Manifest lists the content of a backup, or of one member. transfer writes it last: without a manifest a backup does
// not exist.
type Manifest struct {
	Format    int       `json:"format"`
	ID        string    `json:"id"`
	About     About     `json:"about,omitempty"`
	Members   int       `json:"members"`
	Started   time.Time `json:"started"`
	Completed time.Time `json:"completed"`
	Streams   []Stream  `json:"streams"`
}

// Stream is the output of the action for one member.
type Stream struct {
	Member      int       `json:"member"`
	Attempt     string    `json:"attempt,omitempty"` // part of the names of the pieces; empty in format 1
	Bytes       int64     `json:"bytes"`
	StoredBytes int64     `json:"storedBytes"`
	SHA256      string    `json:"sha256"`
	Recipient   string    `json:"recipient,omitempty"` // the age recipient of encrypted pieces
	Started     time.Time `json:"started"`
	Completed   time.Time `json:"completed"`
	Pieces      []Piece   `json:"pieces"`
	Check       *Check    `json:"check,omitempty"`
}

// Piece is one object: a part of the compressed stream.
type Piece struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Encode returns the manifest as stored.
func (m *Manifest) Encode() ([]byte, error) {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode a manifest: %w", err)
	}
	return append(content, '\n'), nil
}

// DecodeManifest decodes and validates a manifest. Its errors continue a sentence that starts with "The manifest ...".
func DecodeManifest(content []byte) (*Manifest, error) {
	manifest := &Manifest{}
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(manifest); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if problem := manifest.problem(); problem != "" {
		return nil, fmt.Errorf("is not valid: %s", problem)
	}
	return manifest, nil
}

// Stream returns the stored stream of a member.
func (m *Manifest) Stream(member int) (*Stream, bool) {
	for i := range m.Streams {
		if m.Streams[i].Member == member {
			return &m.Streams[i], true
		}
	}
	return nil, false
}

// problem returns why a manifest is invalid, or "".
func (m *Manifest) problem() string {
	switch {
	case m.Format < firstFormat || m.Format > ManifestFormat:
		return fmt.Sprintf("its format is %d, but this version reads %d to %d", m.Format, firstFormat, ManifestFormat)
	case m.ID == "":
		return "it has no id"
	case m.Members < 1 || len(m.Streams) == 0:
		return "it has no members"
	}
	for _, stream := range m.Streams {
		if problem := stream.problem(); problem != "" {
			return problem
		}
	}
	return ""
}

func (s *Stream) problem() string {
	var stored int64
	if s.Attempt != "" && !attemptFormat.MatchString(s.Attempt) {
		return fmt.Sprintf("the attempt of member %d has the invalid name %q", s.Member, s.Attempt)
	}
	for number, piece := range s.Pieces {
		if want := s.PieceName(number); piece.Name != want {
			return fmt.Sprintf("piece %d of member %d has the name %q instead of %q", number, s.Member, piece.Name, want)
		}
		stored += piece.Bytes
	}
	if len(s.Pieces) == 0 || stored != s.StoredBytes {
		return fmt.Sprintf("the %d pieces of member %d have %d bytes in total instead of %d", len(s.Pieces), s.Member, stored, s.StoredBytes)
	}
	return ""
}
