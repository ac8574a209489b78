/*
SPDX-License-Identifier: Apache-2.0
*/

// Package sample selects the part of a campaign that a test runs. A change runs a fixed sample. `make test-campaigns`
// runs all of it.
package sample

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
)

// Whole reports whether tests run whole campaigns: DBC_WHOLE is set.
func Whole() bool { return os.Getenv("DBC_WHOLE") != "" }

// Seed selects the sample: DBC_SEED, by default 1.
func Seed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("DBC_SEED"), 10, 64)
	if err != nil || seed == 0 {
		return 1
	}
	return seed
}

// OneIn selects a fraction of each kind, and at least one of each. A whole campaign has everything.
func OneIn[T any, K comparable](some int, name string, all []T, kind func(T) K) []T {
	if Whole() {
		return all
	}
	named := fnv.New64a()
	named.Write([]byte(name))
	var chosen []T
	seen := map[K]int{}
	for _, i := range rand.New(rand.NewPCG(Seed(), named.Sum64())).Perm(len(all)) {
		if seen[kind(all[i])]%some == 0 {
			chosen = append(chosen, all[i])
		}
		seen[kind(all[i])]++
	}
	return chosen
}
