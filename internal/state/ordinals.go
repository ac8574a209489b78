/*
SPDX-License-Identifier: Apache-2.0
*/

package state

// Start returns the lowest ordinal of the members in the spec of the StatefulSet. It is 0, except while one member starts alone, and while
// all stop.
func (o Observed) Start() int32 {
	if o.StatefulSet == nil || o.StatefulSet.Spec.Ordinals == nil {
		return 0
	}
	return o.StatefulSet.Spec.Ordinals.Start
}

// End returns the ordinal after the last member in the spec of the StatefulSet; 0 if it has no members.
func (o Observed) End() int32 {
	if replicas, _ := o.Replicas(); replicas > 0 {
		return o.Start() + replicas
	}
	return 0
}

// Has reports whether the StatefulSet has a member with an ordinal.
func (o Observed) Has(ordinal int32) bool { return ordinal >= o.Start() && ordinal < o.End() }
