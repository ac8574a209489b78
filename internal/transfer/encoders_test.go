/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"crypto/md5" //nolint:gosec // values without repetitions
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// sums are rows of numbers and hashes: nothing repeats.
func sums(size int) []byte {
	var made bytes.Buffer
	for row := 0; made.Len() < size; row++ {
		fmt.Fprintf(&made, "%d\t%x\n", row, md5.Sum(fmt.Append(nil, row))) //nolint:gosec // see above
	}
	return made.Bytes()[:size]
}

func noise(size int) []byte {
	made := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(made)
	return made
}

// prose has long repetitions at different distances, as text has.
func prose(size int) []byte {
	random, phrases, made := rand.New(rand.NewPCG(1, 2)), make([]string, 4096), &bytes.Buffer{} //nolint:gosec // not a secret
	for i := range phrases {
		phrases[i] = strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(3)) + fmt.Sprintf("%x ", random.Uint64()>>random.IntN(40))
	}
	for made.Len() < size {
		made.WriteString(phrases[min(random.IntN(len(phrases)), random.IntN(len(phrases)))])
	}
	return made.Bytes()[:size]
}

func TestOnlyABlockThatGetsSmallerGetsTheThoroughEncoder(t *testing.T) {
	e, err := newEncoders(protocol.DefaultCompressionLevel, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		block    []byte
		thorough bool
	}{
		"hashes":         {sums(blockBytes), false},
		"noise":          {noise(blockBytes), false},
		"a few bytes":    {[]byte("rows"), false},
		"prose":          {prose(blockBytes), true},
		"a little prose": {prose(trialBytes / 2), true},
	} {
		t.Run(name, func(t *testing.T) {
			frame := e.encode(test.block, nil)
			light, thorough := e.light.EncodeAll(test.block, nil), e.thorough.EncodeAll(test.block, nil)
			want := light
			if test.thorough {
				want = thorough
			}
			if !bytes.Equal(frame, want) {
				t.Errorf("the frame has %d bytes, the light encoder makes %d, the thorough one %d", len(frame), len(light), len(thorough))
			}
		})
	}
}

func TestTheLowestGradeHasOneEncoder(t *testing.T) {
	for level := 1; level <= protocol.MaxCompressionLevel; level++ {
		if e, err := newEncoders(level, 1); err != nil || (e.light == e.thorough) != (level < 3) {
			t.Errorf("level %d: %v, %+v", level, err, e)
		}
	}
}

func TestAnEncoderUsesTheMemoryOfAFrame(t *testing.T) {
	e, err := newEncoders(protocol.DefaultCompressionLevel, 1)
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, 0, blockBytes+frameOverhead)
	for _, block := range [][]byte{sums(blockBytes), prose(blockBytes)} {
		if frame := e.encode(block, memory); &frame[0] != &memory[:1][0] {
			t.Error("the frame has other memory")
		}
	}
}
