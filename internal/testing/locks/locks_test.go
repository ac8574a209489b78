/*
SPDX-License-Identifier: Apache-2.0
*/

package locks

import (
	"slices"
	"testing"
)

func TestOnlyProcessesThatWaitForALockOfAFileCount(t *testing.T) {
	const text = `1: POSIX  ADVISORY  WRITE 812 00:1a:740 0 EOF
2: FLOCK  ADVISORY  WRITE 1200 08:02:131 0 EOF
2: -> FLOCK  ADVISORY  WRITE 1300 08:02:131 0 EOF
2: -> FLOCK  ADVISORY  WRITE 1301 08:02:131 0 EOF
3: -> POSIX  ADVISORY  WRITE 1400 08:02:140 0 EOF
4: ->
`
	if got := waiting(text); !slices.Equal(got, []int{1300, 1301}) {
		t.Errorf("the processes %v wait", got)
	}
}
