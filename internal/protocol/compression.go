/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"fmt"
)

// Compression sets how much CPU the compressor uses. 0 is the default of each field.
type Compression struct {
	Level   int `flag:"compression-level" usage:"the <level> of zstd, 1 to 9. The default 0 is level 3, as for zstd"`
	Threads int `flag:"compression-threads" usage:"the maximum <number> of threads that compress. The default 0 is 4"`
}

// DefaultCompressionLevel is the default of zstd.
const DefaultCompressionLevel = 3

// MaxCompressionLevel bounds the memory of each thread.
const MaxCompressionLevel = 9

// MaxCompressionThreads bounds the number of threads, and is its default.
const MaxCompressionThreads = 4

func (c *Compression) check() error {
	return first(
		rule{c.Level < 0 || c.Level > MaxCompressionLevel, fmt.Sprintf("--compression-level must be 0 to %d", MaxCompressionLevel)},
		rule{c.Threads < 0 || c.Threads > MaxCompressionThreads, fmt.Sprintf("--compression-threads must be 0 to %d", MaxCompressionThreads)},
	)
}

// LevelOrDefault returns the zstd level.
func (c *Compression) LevelOrDefault() int { return cmp.Or(c.Level, DefaultCompressionLevel) }
