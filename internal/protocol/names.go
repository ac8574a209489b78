/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"regexp"
	"strings"
)

// ManifestName is the name of the manifest of a backup. The manifest of a member has the same name in the member's
// folder.
const ManifestName = "manifest.json"

var (
	// owned matches the names of all objects in a backup, including partly written files of a killed process on a
	// volume.
	owned = regexp.MustCompile(`^(member-\d+/)?(manifest\.json|deleted\.json|\d{5,}(-[0-9a-f]{8})?\.zst(\.age)?|` +
		`(index|order|reuse)-[0-9a-f]{8}\.(bin|json)(\.age)?)(\.[0-9a-f]+\.tmp)?$`)
	hold          = regexp.MustCompile(`^member-\d+/reuse-[0-9a-f]{8}\.json$`)
	ofMember      = regexp.MustCompile(`(^|/)member-\d+/manifest\.json$`)
	attemptFormat = regexp.MustCompile(`^[0-9a-f]{8}$`)
	folderFormat  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,254}$`)
)

// MemberFolders is the pattern of the folders of all members.
const MemberFolders = "member-*"

// MemberFolder returns the folder of a member, with a trailing slash.
func MemberFolder(member int) string { return fmt.Sprintf("member-%d/", member) }

// MemberManifest returns the name of a member's manifest.
func MemberManifest(member int) string { return MemberFolder(member) + ManifestName }

// PieceName returns the name of a piece. It is unique to the attempt.
func (s *Stream) PieceName(number int) string {
	attempt := ""
	if s.Attempt != "" {
		attempt = AttemptMark(s.Attempt)
	}
	return fmt.Sprintf("%s%05d%s.zst%s", MemberFolder(s.Member), number, attempt, s.encrypted())
}

func (s *Stream) encrypted() string {
	if s.Recipient != "" {
		return ".age"
	}
	return ""
}

// The objects of package reuse.
const (
	indexKind = "index"
	orderKind = "order"
	// DeletedName is the name of the object in the folder of a deleted backup to whose data others refer.
	DeletedName = "deleted.json"
)

// IndexName returns the name of the index of a stream.
func (s *Stream) IndexName() string { return s.objectName(indexKind) }

// OrderName returns the name of the order of a stream.
func (s *Stream) OrderName() string { return s.objectName(orderKind) }

func (s *Stream) objectName(kind string) string {
	return MemberFolder(s.Member) + kind + AttemptMark(s.Attempt) + ".bin" + s.encrypted()
}

// HoldName returns the name of the object in which an attempt names the folders to which it may refer.
func (s *Stream) HoldName() string {
	return MemberFolder(s.Member) + "reuse" + AttemptMark(s.Attempt) + ".json"
}

// IsHold reports whether a name, relative to the location of a backup, is that of such an object.
func IsHold(name string) bool { return hold.MatchString(name) }

// IsOfAttempt reports whether a name, relative to the location of a backup, is that of an object of an attempt.
func IsOfAttempt(name string, member int, attempt string) bool {
	base, is := strings.CutPrefix(name, MemberFolder(member))
	return is && strings.Contains(base, AttemptMark(attempt)+".")
}

// AttemptMark returns the part before the first dot that all pieces of an attempt have in their names.
func AttemptMark(attempt string) string { return "-" + attempt }

// IsOwned reports whether a name, relative to the location of a backup, belongs to a backup.
func IsOwned(name string) bool { return owned.MatchString(name) }

// IsMemberManifest reports whether a name, relative to any location, is the name of a member's manifest.
func IsMemberManifest(name string) bool { return ofMember.MatchString(name) }
