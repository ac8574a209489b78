/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

const (
	// manifestFormat 2 has the attempt in the names of pieces.
	manifestFormat = 2
	firstFormat    = 1
	manifestName   = "manifest.json"
)

// Manifest says what a backup, or one member's part of it, consists of. It is written after everything that it
// names: without it there is no backup.
type Manifest struct {
	Format    int               `json:"format"`
	ID        string            `json:"id"`
	About     map[string]string `json:"about,omitempty"`
	Members   int               `json:"members"`
	Started   time.Time         `json:"started"`
	Completed time.Time         `json:"completed"`
	Streams   []Stream          `json:"streams"`
}

// Stream is what the action printed for one member.
type Stream struct {
	Member      int       `json:"member"`
	Attempt     string    `json:"attempt,omitempty"` // in the names of the pieces; none in format 1
	Bytes       int64     `json:"bytes"`
	StoredBytes int64     `json:"storedBytes"`
	SHA256      string    `json:"sha256"`
	Recipient   string    `json:"recipient,omitempty"` // of age, for whom the pieces are encrypted
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

// ours matches the names that a backup consists of, also those that a killed process left half-written on a volume.
var ours = regexp.MustCompile(`^(member-\d+/)?(manifest\.json|\d{5,}(-[0-9a-f]{8})?\.zst(\.age)?)(\.[0-9a-f]+\.tmp)?$`)

func memberFolder(member int) string { return fmt.Sprintf("member-%d/", member) }

// pieceName is unique to the attempt.
func (s *Stream) pieceName(number int) string {
	attempt, encrypted := "", ""
	if s.Attempt != "" {
		attempt = "-" + s.Attempt
	}
	if s.Recipient != "" {
		encrypted = ".age"
	}
	return fmt.Sprintf("%s%05d%s.zst%s", memberFolder(s.Member), number, attempt, encrypted)
}

// readManifest reads a manifest and refuses one that makes no sense.
func readManifest(ctx context.Context, store *store, name string) (*Manifest, error) {
	content, err := store.read(ctx, name)
	if err != nil {
		return nil, err
	}
	manifest := &Manifest{}
	decoder := json.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(manifest); err != nil {
		return nil, failf(ManifestInvalid, "The manifest %s cannot be read: %v. Take another backup.", store.url(name), err)
	}
	if problem := manifest.problem(); problem != "" {
		return nil, failf(ManifestInvalid, "The manifest %s is not valid: %s. Take another backup.", store.url(name), problem)
	}
	return manifest, nil
}

// problem is what is wrong with a manifest in itself.
func (m *Manifest) problem() string {
	switch {
	case m.Format < firstFormat || m.Format > manifestFormat:
		return fmt.Sprintf("its format is %d and this version reads %d to %d", m.Format, firstFormat, manifestFormat)
	case m.ID == "":
		return "it has no id"
	case m.Members < 1 || len(m.Streams) == 0:
		return "it names no members"
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
		return fmt.Sprintf("the attempt of member %d is called %q", s.Member, s.Attempt)
	}
	for number, piece := range s.Pieces {
		if want := s.pieceName(number); piece.Name != want {
			return fmt.Sprintf("piece %d of member %d is called %q, not %q", number, s.Member, piece.Name, want)
		}
		stored += piece.Bytes
	}
	if len(s.Pieces) == 0 || stored != s.StoredBytes {
		return fmt.Sprintf("the %d pieces of member %d have %d bytes together, not %d", len(s.Pieces), s.Member, stored, s.StoredBytes)
	}
	return ""
}

// stream is what the backup holds of a member.
func (m *Manifest) stream(member int) (*Stream, bool) {
	for i := range m.Streams {
		if m.Streams[i].Member == member {
			return &m.Streams[i], true
		}
	}
	return nil, false
}

// check compares the pieces with what a listing shows.
func (s *Stream) check(store *store, listed listing) error {
	for _, piece := range s.Pieces {
		bytes, found := listed[piece.Name]
		switch {
		case !found:
			return failf(BackupCorrupt, "%s is missing. Take another backup.", store.url(piece.Name))
		case bytes != piece.Bytes:
			return failf(BackupCorrupt, "%s has %d bytes, not %d. Take another backup.", store.url(piece.Name), bytes, piece.Bytes)
		}
	}
	return nil
}

// owned refuses a folder in which anything says that it is another backup's.
func owned(ctx context.Context, store *store, listed listing, id string) error {
	for _, name := range listed.manifests() {
		manifest, err := readManifest(ctx, store, name)
		if err != nil {
			return err
		}
		if err := manifest.of(store, name, id); err != nil {
			return err
		}
	}
	return nil
}

// of refuses the manifest of another backup.
func (m *Manifest) of(store *store, name, id string) error {
	if m.ID != id {
		return failf(IDMismatch, "%s belongs to the backup %s, not to %s: nothing there is touched.", store.url(name), m.ID, id)
	}
	return nil
}

func (m *Manifest) encode() ([]byte, error) {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode a manifest: %w", err)
	}
	return append(content, '\n'), nil
}
