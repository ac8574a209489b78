/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ChangeCredentials is a step of a rotation of generated credentials.
type ChangeCredentials struct {
	Live state.Credentials
	// Generate are the keys that get a random value.
	Generate []engine.GeneratedKey
	// Promote makes the passwords of the rotation in progress the current ones. Remove removes its keys; otherwise the previous
	// passwords are kept as well, because members may still need them.
	Promote, Remove bool
	// Annotations are set; an empty value removes one.
	Annotations map[string]string
	Why         string
}

// Properties of ChangeCredentials. Neither a pause nor a deletion may leave passwords in the Secrets that members no longer accept.
func (c ChangeCredentials) Properties() operation.Properties {
	accepted := c.Promote && !c.Remove
	return operation.Properties{LiveRead: true, Independent: true, WhilePaused: accepted, WhileDeleting: accepted}
}

func (c ChangeCredentials) String() string {
	return fmt.Sprintf("change Secret %s: %s", c.Live.Name, c.Why)
}
