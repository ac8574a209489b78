/*
SPDX-License-Identifier: Apache-2.0
*/

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
