/*
SPDX-License-Identifier: Apache-2.0
*/

// Package sim has the stories of a cluster in a simulated world, and runs the campaigns of failures over them.
package sim

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: worlds are small and many.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
