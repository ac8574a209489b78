/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"strings"
	"time"
)

// Uptime is a moment in the life of a process of the operator. A clock that is set does not shift it, and another process does not know it.
type Uptime struct {
	// Process is a random name of the process.
	Process string
	// Running is for how long it has run.
	Running time.Duration
}

// String is the moment for a record. A record is never earlier than its moment.
func (u Uptime) String() string {
	return fmt.Sprintf("%s+%s", u.Process, (u.Running + time.Second - 1).Truncate(time.Second))
}

// Since returns the time since a recorded moment; known is false if it is not one of this process.
func (u Uptime) Since(record string) (elapsed time.Duration, known bool) {
	process, running, _ := strings.Cut(record, "+")
	then, err := time.ParseDuration(running)
	if err != nil || process != u.Process || process == "" {
		return 0, false
	}
	return max(0, u.Running-then), true
}
