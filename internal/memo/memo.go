/*
SPDX-License-Identifier: Apache-2.0
*/

// Package memo remembers the results of pure functions. A caller cannot observe a difference, except in time and memory.
package memo

import "sync"

// Table are results by what they depend on.
type Table[Input comparable, Result any] struct {
	most    int
	mutex   sync.Mutex
	results map[Input]Result
}

// New returns a table of at most so many results. When it is full, it begins again.
func New[Input comparable, Result any](most int) *Table[Input, Result] {
	return &Table[Input, Result]{most: most, results: map[Input]Result{}}
}

// Of returns the result for an input. It computes a result that it does not remember.
func (t *Table[Input, Result]) Of(input Input, compute func() Result) Result {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if known, ok := t.results[input]; ok {
		return known
	}
	if len(t.results) >= t.most {
		clear(t.results)
	}
	result := compute()
	t.results[input] = result
	return result
}
