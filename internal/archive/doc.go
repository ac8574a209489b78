/*
SPDX-License-Identifier: Apache-2.0
*/

// Package archive names the objects of a continuous archive.
//
// The action archive of an engine sends the log of a database as files that only grow, at most MaxFileBytes each. transfer stores them as
// objects that it creates and never overwrites. The name of an object has everything that is known about it, so a listing shows the whole
// archive: no index can be lost or lag behind.
//
//	1e724c00/0079c930002a.000000010000000000000007.0000000000-0000001f40.e3b0c44298fc1c14-9f86d081884c7d65.20261127T193300.000Z.part.zst.age
//	folder   sequence     file                     from       end        before           after            mark                 kind
//
// Two objects are neighbors only if the first ends where the second begins and both have the same digest there, so the same bytes before.
// A file with other bytes under the same name, for example of a primary that lost its data, is a branch of its own beside it.
package archive

import "time"

const (
	// MaxFileBytes is the maximum size of a file, which transfer has in memory while it grows.
	MaxFileBytes = 16 << 20
	// roomBytes is the size from which a file has the memory for MaxFileBytes.
	roomBytes = 1 << 20
	// maxParts is the maximum number of parts of a complete file: more are stored once more as one object. A file that grows fast has few,
	// so nothing is stored twice under load.
	maxParts = 8
	// MaxObjectsInFlight is the maximum number of objects that transfer stores at the same time.
	MaxObjectsInFlight = 8
	// filesPerHour is more than the files of an hour, and a multiple of filesPerFolder. An archive begins with the number of its first hour.
	// So it has no number in common with a previous archive of the same place, whose objects may come back to the bucket.
	filesPerHour = 1 << 20
	// filesPerFolder is the number of files in a folder. The last folder shows where the archive ends, without a listing of all files.
	filesPerFolder = 1024
)

// PieceKind is what an object is.
type PieceKind string

const (
	// Part has bytes of a file that grows.
	Part PieceKind = "part"
	// Tail is the last part of a complete file. It may have no bytes.
	Tail PieceKind = "tail"
	// Full is a complete file. It replaces its parts, if they are many.
	Full PieceKind = "full"
	// Mark has no bytes, only a newer time.
	Mark PieceKind = "mark"
	// Gap has no bytes. The files after it do not continue the files before it.
	Gap PieceKind = "gap"
	// Fork has no bytes. The database left this file at End: bytes beyond it belong to a history that it has given up.
	Fork PieceKind = "fork"
)

// Piece is an object of an archive.
type Piece struct {
	// Sequence is the number of the file in the archive. Numbers have no holes.
	Sequence int64
	// File is the name that the engine gave the file.
	File string
	// From and End are offsets in the file.
	From, End int64
	// Before and After are digests of the bytes of the file up to From and up to End.
	Before, After Digest
	// Mark is a time: everything that was committed until then is before End in this file. Zero if unknown.
	Mark time.Time
	Kind PieceKind
	// Encrypted is true if only the holder of a key can read the bytes.
	Encrypted bool
}

// Empty reports whether a piece has no bytes.
func (p Piece) Empty() bool { return p.From == p.End }
