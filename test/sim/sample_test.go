/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"flag"
	"slices"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// The campaigns together have some ten thousand plays. A change runs a sample of them.
var (
	share = flag.Int("share", 50, "one in how many plays of a kind the sample of a campaign has")
	seeds = flag.Uint64("seeds", 5, "how many orders of events a whole campaign tries for each sequence")
)

// sampled returns the plays of a sequence to run. Stories of members that have one database are long: a sample has at least one play
// of each, instead of one of each kind.
func sampled[P any, K comparable](t *testing.T, sequence string, plays []P, kind func(P) K) []P {
	t.Helper()
	if isShared(sequence) && !sample.Whole() {
		kind = func(P) (same K) { return same }
	}
	chosen := sample.OneIn(*share, sequence, plays, kind)
	t.Logf("%d of %d plays, DBC_SEED=%d", len(chosen), len(plays), sample.Seed())
	return chosen
}

// played returns the stories whose campaigns run: of those of members that have one database, a sample has one in three.
func played() []world.Story {
	chosen := slices.DeleteFunc(slices.Clone(sequences), func(s world.Story) bool { return isShared(s.Name) })
	return append(chosen, sample.OneIn(3, "stories", sharedSequences, func(world.Story) string { return "" })...)
}

// orders returns the seeds of the orders of events to run.
func orders() []uint64 {
	all := []uint64{sample.Seed()}
	for i := uint64(1); sample.Whole() && i < *seeds; i++ {
		all = append(all, sample.Seed()+i)
	}
	return all
}

// withoutRaces skips a campaign under the race detector. The detector makes it six times as slow and finds nothing,
// because a world is sequential. The golden stories cover the state that parallel worlds share.
func withoutRaces(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("a world is sequential: the race detector runs the golden stories")
	}
}
