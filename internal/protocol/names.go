/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"regexp"
)

// ManifestName is the name of the manifest of a backup. The manifest of a member has the same name in the member's
// folder.
const ManifestName = "manifest.json"

var (
	// owned matches the names of all objects in a backup, including partly written files of a killed process on a
	// volume.
	owned         = regexp.MustCompile(`^(member-\d+/)?(manifest\.json|\d{5,}(-[0-9a-f]{8})?\.zst(\.age)?)(\.[0-9a-f]+\.tmp)?$`)
	ofMember      = regexp.MustCompile(`(^|/)member-\d+/manifest\.json$`)
	attemptFormat = regexp.MustCompile(`^[0-9a-f]{8}$`)
)

// MemberFolders is the pattern of the folders of all members.
const MemberFolders = "member-*"

// MemberFolder returns the folder of a member, with a trailing slash.
func MemberFolder(member int) string { return fmt.Sprintf("member-%d/", member) }

// MemberManifest returns the name of a member's manifest.
func MemberManifest(member int) string { return MemberFolder(member) + ManifestName }

// PieceName returns the name of a piece. It is unique to the attempt.
func (s *Stream) PieceName(number int) string {
	attempt, encrypted := "", ""
	if s.Attempt != "" {
		attempt = AttemptMark(s.Attempt)
	}
	if s.Recipient != "" {
		encrypted = ".age"
	}
	return fmt.Sprintf("%s%05d%s.zst%s", MemberFolder(s.Member), number, attempt, encrypted)
}

// AttemptMark returns the part before the first dot that all pieces of an attempt have in their names.
func AttemptMark(attempt string) string { return "-" + attempt }

// IsOwned reports whether a name, relative to the location of a backup, belongs to a backup.
func IsOwned(name string) bool { return owned.MatchString(name) }

// IsMemberManifest reports whether a name, relative to any location, is the name of a member's manifest.
func IsMemberManifest(name string) bool { return ofMember.MatchString(name) }
