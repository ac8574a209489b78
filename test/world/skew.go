/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"time"
)

// skewed is the clock of the operator, which differs from the one of Kubernetes.
type skewed struct{ *World }

// Now returns the time of that clock.
func (s skewed) Now() time.Time { return s.Clock.Now().Add(s.Skew) }

// Since returns the time since another one of that clock.
func (s skewed) Since(at time.Time) time.Duration { return s.Now().Sub(at) }
