/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"maps"
	"reflect"
)

// factsBySubject are what subjects have read for themselves, by the type of the facts. Only the package of the type reads them.
type factsBySubject map[reflect.Type]any

// FactsOf returns the facts of one type; the zero value if none were read.
func FactsOf[F any](o Observed) F {
	facts, _ := o.Facts[reflect.TypeFor[F]()].(F)
	return facts
}

// Put adds facts of one type. An earlier copy of the Observed does not have them.
func Put[F any](o *Observed, facts F) {
	all := maps.Clone(o.Facts)
	if all == nil {
		all = factsBySubject{}
	}
	all[reflect.TypeFor[F]()] = facts
	o.Facts = all
}
