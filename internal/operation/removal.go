/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// Removal is an object to delete, and the reason. UID and Version are its preconditions.
type Removal struct {
	Kind, Name string
	UID        types.UID
	Version    string
	Why        string
}

func (r Removal) String() string { return fmt.Sprintf("%s %s: %s", r.Kind, r.Name, r.Why) }

// RemovalOf deletes a Job.
func RemovalOf(job jobs.Job, why string) Removal {
	return Removal{"Job", job.Name, job.UID, job.Version, why}
}

// Recreation deletes a Job so that the next pass re-creates it from the current spec.
func Recreation(job jobs.Job) Removal {
	return RemovalOf(job, "its configuration has changed, so the operator re-creates it")
}
