/*
SPDX-License-Identifier: Apache-2.0
*/

package state

// Protection is the state of the admission policies that protect a cluster from deletion.
type Protection struct {
	// Missing are the admission policies and bindings that do not exist, or do not deny.
	Missing []string
	// Unknown is why the operator cannot read them; "" if it can.
	Unknown string
}
