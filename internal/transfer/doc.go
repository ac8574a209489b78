/*
SPDX-License-Identifier: Apache-2.0
*/

// Package transfer streams the backup of a database to a bucket or a volume, and back. The binary of the
// same name runs in the pods of Jobs, as the parent process of an engine's action:
//
//	backup:  action -> SHA-256 -> zstd -> age -> pieces -> store
//	restore: store -> pieces -> age -> zstd -> SHA-256 -> action
//
// Encryption with age is optional. Attempts of a backup may run at the same time; see attempt.go.
//
// # Memory
//
// The memory of a transfer does not depend on the size of the data. It consists of partBytes for each of the uploadParts
// in flight and for the part that fills (twice that for the first part of a piece), and the window and tables of zstd.
// The total, including code, stays below MemoryBound, as a test measures. Only the manifest grows, by 150 bytes per piece.
package transfer

const (
	// MemoryBound is the maximum resident memory of a transfer of any size.
	MemoryBound = 160 << 20
	// softLimit is the memory limit of the garbage collector, below MemoryBound.
	softLimit = 112 << 20

	// A piece in S3 is uploaded in parts of partBytes, with uploadParts at a time. S3 allows 10,000 parts per object,
	// which limits --piece-size.
	partBytes   = 8 << 20
	uploadParts = 4

	// zstdWindow is the window of the compressor, and zstdThreads its number of threads. The decompressor rejects
	// windows above maxZstdWindow.
	zstdWindow    = 4 << 20
	zstdThreads   = 2
	maxZstdWindow = 8 << 20

	// copyBytes is the size of the buffer between an action and the pipeline.
	copyBytes = 256 << 10

	// maxManifestBytes is the maximum size of a manifest: half a million pieces.
	maxManifestBytes = 64 << 20
)
