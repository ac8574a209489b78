/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Removal is one object to delete, and why. UID and Version are its preconditions.
type Removal struct {
	Kind, Name string
	UID        types.UID
	Version    string
	Why        string
}

func (r Removal) String() string { return fmt.Sprintf("%s %s: %s", r.Kind, r.Name, r.Why) }
