/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
)

// creating are the reasons of the creation of data, by those of a restore.
var creating = map[string]string{
	dbv1.ReasonRestoring:       dbv1.ReasonInitializing,
	dbv1.ReasonRestoreRetrying: dbv1.ReasonInitializeRetrying,
}

// outcome has the reason of a restore, or of the creation of data.
func (r restore) outcome(o phase.Outcome) phase.Outcome {
	if reason, found := creating[o.Reason]; r.Initializes && found {
		o.Reason = reason
	}
	return o
}

// beginning describes the start of the restore.
func (r restore) beginning() string {
	if r.Initializes {
		return "writing the first data"
	}
	return "restoring " + r.Source()
}

// result describes the finished restore.
func (r restore) result() string {
	if r.Initializes {
		return r.place() + " has the first data"
	}
	return r.Source() + " is restored into " + r.place()
}

// purpose describes the restore.
func (r restore) purpose() string { return r.beginning() + " into " + r.place() }

// place is where the data comes.
func (r restore) place() string {
	if r.Related() {
		return "the volume of member 0"
	}
	return "the volumes of all members"
}

// event is the one of a restore, or of the creation of data.
func (r restore) event(restores, creates operation.Event) operation.Event {
	if r.Initializes {
		return creates
	}
	return restores
}
