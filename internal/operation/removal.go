/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// Removal is an object to delete, and the reason. Its UID and version are preconditions.
type Removal struct {
	Target
	Why string
	// Log is the container of a pod whose last lines are kept; "" for none.
	Log string
}

func (r Removal) String() string { return fmt.Sprintf("%s %s: %s", r.Kind.Kind, r.Name, r.Why) }

// Because deletes an object for a reason.
func (t Target) Because(why string) Removal { return Removal{Target: t, Why: why} }

// Recreation deletes a Job so that the next pass re-creates it from the current spec.
func Recreation(job jobs.Job) Removal {
	return JobOf(job).Because("its configuration has changed, so the operator re-creates it")
}
