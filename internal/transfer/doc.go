/*
SPDX-License-Identifier: Apache-2.0
*/

// Package transfer streams the backup of a database to a bucket or a volume, and back. It is what the binary of
// the same name does in the pods of Jobs, as the parent of an engine's action:
//
//	backup:  action -> SHA-256 -> zstd -> age -> pieces -> store
//	restore: store -> pieces -> age -> zstd -> SHA-256 -> action
//
// Encryption with age is optional. Attempts of a backup may run at the same time; see attempt.go.
//
// # Memory
//
// What a transfer holds does not depend on how much it moves. At once there are partBytes for each of the
// uploadParts that are on their way and the one that fills, twice that for the first of each piece, and the
// window of zstd with its tables. Together, code included, that stays below MemoryBound, which a test measures. Only the manifest
// grows, by 150 bytes a piece.
package transfer

const (
	// MemoryBound is the resident memory that a transfer stays below, whatever its size.
	MemoryBound = 160 << 20
	// softLimit is where the garbage collector works harder, so that there is room to the bound.
	softLimit = 112 << 20

	// A piece of S3 is uploaded in parts of partBytes, uploadParts of them at a time. S3 takes at most 10,000
	// parts of an object, which bounds the flag --piece-size.
	partBytes   = 8 << 20
	uploadParts = 4

	// zstdWindow is how far back the compressor looks for repetitions, and zstdThreads how many work at it. The
	// decompressor refuses to look back further than maxZstdWindow.
	zstdWindow    = 4 << 20
	zstdThreads   = 2
	maxZstdWindow = 8 << 20

	// copyBytes is the size of the buffer between an action and the pipeline.
	copyBytes = 256 << 10

	// maxManifestBytes is where reading a manifest ends: half a million pieces.
	maxManifestBytes = 64 << 20
)
