/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"regexp"
)

// ManifestName is the name of the manifest of a backup, and of that of a member's part within its folder.
const ManifestName = "manifest.json"

var (
	// owned matches the names that a backup consists of, also those that a killed process left half-written on a volume.
	owned         = regexp.MustCompile(`^(member-\d+/)?(manifest\.json|\d{5,}(-[0-9a-f]{8})?\.zst(\.age)?)(\.[0-9a-f]+\.tmp)?$`)
	ofMember      = regexp.MustCompile(`(^|/)member-\d+/manifest\.json$`)
	attemptFormat = regexp.MustCompile(`^[0-9a-f]{8}$`)
)

// MemberFolders is the pattern of the folders of all members.
const MemberFolders = "member-*"

// MemberFolder is the folder of a member's part, with a slash at its end.
func MemberFolder(member int) string { return fmt.Sprintf("member-%d/", member) }

// MemberManifest is the name of the manifest of a member's part.
func MemberManifest(member int) string { return MemberFolder(member) + ManifestName }

// PieceName is the name of a piece. It is unique to the attempt.
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

// AttemptMark is what the names of all pieces of an attempt contain, before their first dot.
func AttemptMark(attempt string) string { return "-" + attempt }

// IsOwned reports whether a name, below the location of a backup, is one that a backup consists of.
func IsOwned(name string) bool { return owned.MatchString(name) }

// IsMemberManifest reports whether a name, below any location, is that of the manifest of a member's part.
func IsMemberManifest(name string) bool { return ofMember.MatchString(name) }
