/*
SPDX-License-Identifier: Apache-2.0
*/

// Package transfer streams the backup of a database to a bucket or a volume, and back. The binary of the
// same name runs in the pods of Jobs, as the parent process of an engine's action:
//
//	backup:  action -> SHA-256 -> zstd -> age -> pieces -> store
//	restore: store -> pieces -> age -> zstd -> SHA-256 -> action
//	reuse:   action -> SHA-256 -> chunks that are new -> zstd -> age -> pieces -> store, see package reuse
//	archive: action -> frames -> files -> zstd -> age -> store, see package archive
//
// The steps overlap: see compressor and unpacked. Encryption with age is optional. Attempts of a backup may run at the
// same time; see attempt.go.
//
// # Memory
//
// The memory of a transfer does not depend on the size of the data. It consists of partBytes for each of the uploadParts
// in flight and for the part that fills (twice that for the first part of a piece), the blocks of the compressor and their
// frames, and the windows and tables of both encoders of each thread. The total, including code, stays below MemoryBound,
// as tests measure. An archive has the file that grows and archiveBytes on their way instead. A restore from several streams has a frame
// of each, and those that it reads ahead. Only the manifest grows, by 150 bytes per piece, and the list of frames, by 4 bytes for each
// 3 MiB. The system's memory for pipes is not included.
package transfer

const (
	// MemoryBound is the maximum resident memory of a transfer of any size.
	MemoryBound = 160 << 20
	// softLimit is the memory limit of the garbage collector, below MemoryBound.
	softLimit = 128 << 20

	// A piece in S3 is uploaded in parts of partBytes, with uploadParts at a time. S3 allows 10,000 parts per object,
	// which limits --piece-size.
	partBytes   = 8 << 20
	uploadParts = 4

	// diskBytes is how much of a piece on a volume collects in memory before the system starts to write it to the disk.
	diskBytes = 8 << 20

	// The compressor compresses blocks of blockBytes with a window of zstdWindow, as zstd does by default. The
	// decompressor rejects windows above maxZstdWindow, and decodes zstdBlocks blocks of zstd at a time.
	blockBytes    = 3 << 20
	zstdWindow    = 2 << 20
	maxZstdWindow = 8 << 20
	zstdBlocks    = 2
	// frameOverhead is more than zstd adds to a block that it cannot compress.
	frameOverhead = 4 << 10

	// Between two steps that run at the same time there are aheadBuffers buffers of copyBytes.
	copyBytes    = 128 << 10
	aheadBuffers = 4

	// pipeBytes is the size of a pipe to an action, in the memory of the system. The default, 64 KiB, is less than one read.
	pipeBytes = 2 * copyBytes

	// maxManifestBytes is the maximum size of a manifest: half a million pieces.
	maxManifestBytes = 64 << 20
)
