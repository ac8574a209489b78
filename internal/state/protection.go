/*
SPDX-License-Identifier: Apache-2.0
*/

package state

// Protection is what is in force to keep the API server from deleting a protected cluster.
type Protection struct {
	// Missing are the admission policies and bindings that do not exist, or deny nothing.
	Missing []string
	// Unknown says why it cannot be told what there is; "" when it can.
	Unknown string
}
