/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	// ManifestFormat is the newest format. Format 2 adds the attempt to the names of pieces, and format 3 the index of a stream.
	ManifestFormat = 3
	// aloneFormat is the format of a backup to which no other one can refer. Older versions can read and delete it.
	aloneFormat = 2
	firstFormat = 1
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

	// NewBytes are the bytes in the pieces, uncompressed, if the stream has an index. Otherwise the pieces have all Bytes.
	NewBytes int64 `json:"newBytes,omitempty"`
	// Index and Order are objects of package reuse, and Sources the earlier streams that have the other bytes.
	Index   *Piece   `json:"index,omitempty"`
	Order   *Piece   `json:"order,omitempty"`
	Sources []Source `json:"sources,omitempty"`
}

// MaxSources is the maximum number of earlier streams that a stream refers to. A restore reads them at the same time, so it bounds its
// memory.
const MaxSources = 8

// Source is a stream of an earlier backup that has a part of the data.
type Source struct {
	// Number is its number in the order.
	Number int `json:"number"`
	// Folder is the name of the folder of that backup, beside the folder of this one.
	Folder string `json:"folder"`
	// UsedBytes are the bytes of the data that are there.
	UsedBytes int64  `json:"usedBytes"`
	Stream    Stream `json:"stream"`
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

// FormatOf returns the format of a manifest with the streams.
func FormatOf(streams []Stream) int {
	if slices.ContainsFunc(streams, func(s Stream) bool { return s.Index != nil }) {
		return ManifestFormat
	}
	return aloneFormat
}

func (s *Stream) problem() string {
	return cmp.Or(s.pieceProblem(), s.sourceProblem())
}

// sourceProblem returns why a restore could not read the sources of a stream, or "".
func (s *Stream) sourceProblem() string {
	for _, object := range []struct {
		kind string
		is   *Piece
	}{{indexKind, s.Index}, {orderKind, s.Order}} {
		if object.is != nil && object.is.Name != s.objectName(object.kind) {
			return fmt.Sprintf("the %s of member %d has the name %q instead of %q", object.kind, s.Member, object.is.Name, s.objectName(object.kind))
		}
	}
	if len(s.Sources) > 0 && (s.Order == nil || s.Index == nil) {
		return fmt.Sprintf("member %d has sources, but no order or no index", s.Member)
	}
	for _, source := range s.Sources {
		if problem := source.problem(s.Member); problem != "" {
			return problem
		}
	}
	return ""
}

func (s *Source) problem(member int) string {
	switch of := s.Stream; {
	case s.Number < 1 || s.Number > MaxSources:
		return fmt.Sprintf("the source %d of member %d is not one of %d", s.Number, member, MaxSources)
	case !folderFormat.MatchString(s.Folder):
		return fmt.Sprintf("member %d has a source in the folder %q", member, s.Folder)
	case of.Index == nil || len(of.Sources) > 0 || of.Order != nil:
		return fmt.Sprintf("the source of member %d in %s has no index, or sources of its own", member, s.Folder)
	}
	if problem := s.Stream.problem(); problem != "" {
		return fmt.Sprintf("in its source %s, %s", s.Folder, problem)
	}
	return ""
}

func (s *Stream) pieceProblem() string {
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
	if len(s.Pieces) == 0 && len(s.Sources) == 0 || stored != s.StoredBytes {
		return fmt.Sprintf("the %d pieces of member %d have %d bytes in total instead of %d", len(s.Pieces), s.Member, stored, s.StoredBytes)
	}
	return ""
}
