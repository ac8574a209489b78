/*
SPDX-License-Identifier: Apache-2.0
*/

package memo

import "sync"

// LastInput remembers the last input for each subject. Nil remembers nothing.
type LastInput[Subject, Input comparable] struct {
	mutex  sync.Mutex
	inputs map[Subject]Input
}

// mostSubjects is the number of subjects that are remembered. Then the memory begins again.
const mostSubjects = 1 << 16

// Is reports whether an input is the last one of a subject.
func (l *LastInput[Subject, Input]) Is(subject Subject, input Input) bool {
	if l == nil {
		return false
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	last, known := l.inputs[subject]
	return known && last == input
}

// Set remembers an input.
func (l *LastInput[Subject, Input]) Set(subject Subject, input Input) {
	if l == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.inputs == nil || len(l.inputs) >= mostSubjects {
		l.inputs = map[Subject]Input{}
	}
	l.inputs[subject] = input
}
