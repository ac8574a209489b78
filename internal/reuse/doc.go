/*
SPDX-License-Identifier: Apache-2.0
*/

// Package reuse lets a backup refer to data that earlier backups of the cluster have stored, so that it stores only what is new.
//
// The content decides where the data is cut into chunks, so an insertion moves the cuts with the content. Each backup stores the new
// chunks as a stream of its own, as a backup without reuse stores everything. Beside it are two objects:
//
//	index  what the stream has: the sum and the length of each of its chunks, and the size of each of its frames of zstd
//	order  which bytes of which stream are the data, in their order; absent if they are those of the stream itself
//
// So a restore needs the order and the streams that it names, and no other backup: a deleted backup leaves the streams that others need.
package reuse

const (
	// A page of a database that has changed changes the chunks around it. Smaller chunks store less then, and need larger indexes.
	minChunk, usualChunk, maxChunk = 1 << 10, 4 << 10, 32 << 10

	// leastUse is the part of an earlier stream that must still be in use, 1/leastUse: what is left of a stream that is used less is stored
	// again by the next backup, so that the stream can be deleted with the backups that still use it.
	leastUse = 2
)
