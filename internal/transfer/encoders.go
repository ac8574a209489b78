/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import "github.com/klauspost/compress/zstd"

const (
	// trialBytes of a block show whether the thorough encoder is worth its time.
	trialBytes = 96 << 10
	// worthwhile is the part of the size that the thorough encoder must save: 1/50 is 2%.
	worthwhile = 50
	// lightWindow is enough for the light encoder: it remembers 32,768 positions.
	lightWindow = 1 << 20
)

// encoders compress blocks into frames of zstd. The thorough encoder has the level of the user. It takes twice the time
// of the light one, because it looks for more repetitions. Where there are none, as in hashes and random IDs, its
// result is often larger. So each block gets the thorough encoder only if that makes a sample of the block smaller. The
// samples take about a tenth of the CPU of transfer.
type encoders struct {
	light, thorough *zstd.Encoder // the same at the lowest grade
}

func newEncoders(level, threads int) (e encoders, err error) {
	grade := zstd.EncoderLevelFromZstd(level)
	if e.light, err = newEncoder(zstd.SpeedFastest, lightWindow, threads); err != nil || grade == zstd.SpeedFastest {
		e.thorough = e.light
		return e, err
	}
	e.thorough, err = newEncoder(grade, zstdWindow, threads)
	return e, err
}

func newEncoder(grade zstd.EncoderLevel, window, threads int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(grade), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(threads))
}

// encode returns the frame of a block. It overwrites the memory of another frame.
func (e encoders) encode(block, frame []byte) []byte {
	return e.choose(block, frame).EncodeAll(block, frame[:0])
}

// choose returns the encoder for a block. It uses the memory of the frame.
func (e encoders) choose(block, frame []byte) *zstd.Encoder {
	if e.light == e.thorough {
		return e.light
	}
	sample := block[:min(len(block), trialBytes)]
	light := len(e.light.EncodeAll(sample, frame[:0]))
	if thorough := len(e.thorough.EncodeAll(sample, frame[:0])); light-thorough < light/worthwhile {
		return e.light
	}
	return e.thorough
}
