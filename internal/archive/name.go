/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Digest identifies the first bytes of a file: the beginning of their SHA-256. Nothing: the digest of no bytes.
type Digest string

// digestBytes of a hash distinguish the branches of one file. The store verifies the content of an object itself.
const digestBytes = 8

// DigestOf returns the digest for a SHA-256.
func DigestOf(sum []byte) Digest { return Digest(hex.EncodeToString(sum[:digestBytes])) }

// Nothing is the digest of no bytes.
var Nothing = func() Digest {
	sum := sha256.Sum256(nil)
	return DigestOf(sum[:])
}()

// timeFormat sorts, and has no characters that a bucket or a volume cannot have in a name.
const timeFormat = "20060102T150405.000Z"

// unknown is the mark of a piece without one.
const unknown = "-"

var (
	fileName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	pieceName = regexp.MustCompile(`^[0-9a-f]{8}/([0-9a-f]{12})\.(.+)\.([0-9a-f]{10})-([0-9a-f]{10})\.([0-9a-f]{16})-([0-9a-f]{16})\.` +
		`(-|[0-9]{8}T[0-9]{6}\.[0-9]{3}Z)\.(part|tail|full|mark|gap|fork)\.zst(\.age)?$`)
)

// ValidFile reports whether a file can have this name.
func ValidFile(name string) bool { return fileName.MatchString(name) }

// Folder is the folder of a file in the archive.
func Folder(sequence int64) string { return fmt.Sprintf("%08x/", sequence/filesPerFolder) }

// Name is the name of the object.
func (p Piece) Name() string {
	mark, encrypted := unknown, ""
	if !p.Mark.IsZero() {
		mark = p.Mark.UTC().Format(timeFormat)
	}
	if p.Encrypted {
		encrypted = ".age"
	}
	return fmt.Sprintf("%s%012x.%s.%010x-%010x.%s-%s.%s.%s.zst%s",
		Folder(p.Sequence), p.Sequence, p.File, p.From, p.End, p.Before, p.After, mark, p.Kind, encrypted)
}

// Parse reads the name of an object. ok is false for an object that is not part of an archive.
func Parse(name string) (p Piece, ok bool) {
	found := pieceName.FindStringSubmatch(name)
	if found == nil || !ValidFile(found[2]) {
		return Piece{}, false
	}
	p = Piece{
		Sequence: number(found[1]), File: found[2], From: number(found[3]), End: number(found[4]),
		Before: Digest(found[5]), After: Digest(found[6]), Kind: PieceKind(found[8]), Encrypted: found[9] != "",
	}
	if found[7] != unknown {
		mark, err := time.Parse(timeFormat, found[7])
		if err != nil {
			return Piece{}, false
		}
		p.Mark = mark
	}
	return p, p.Name() == name && p.From <= p.End
}

// number reads hexadecimal digits, of which the expression allows few enough.
func number(digits string) int64 {
	value, _ := strconv.ParseInt(digits, 16, 64)
	return value
}
