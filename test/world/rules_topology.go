/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"strings"
)

// watchTopology: a volume is used by engines of one topology only.
func (w *World) watchTopology(claim string, on volume, engine string) {
	for before := range strings.FieldsSeq(on.engines) {
		if Topologies[before] != Topologies[engine] {
			w.Breaks("claim %s has data of %s, and %s of another topology runs with it", claim, before, engine)
		}
	}
}
