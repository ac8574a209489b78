/*
SPDX-License-Identifier: Apache-2.0
*/

// Package sample says which part of a campaign a test plays: a change gets a sample, the same one each time, and `make
// test-campaigns` plays the whole.
package sample

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
)

// Whole tells whether campaigns are played whole: DBC_WHOLE is set.
func Whole() bool { return os.Getenv("DBC_WHOLE") != "" }

// Seed is what a sample is chosen by: DBC_SEED, by default 1.
func Seed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("DBC_SEED"), 10, 64)
	if err != nil || seed == 0 {
		return 1
	}
	return seed
}

// OneIn chooses among what a campaign has of a name one in some of each kind, and of each kind at least one; the whole
// campaign has everything.
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
