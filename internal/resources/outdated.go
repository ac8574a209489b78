/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Outdated reports whether a Job has to be re-created because what it is made from has changed. The template of a Job
// cannot be changed, so a correction of the spec reaches its pods in no other way. An action that has run, or may have,
// is never cut off; one that has not read or written anything loses nothing.
func Outdated(task state.Task, desired Child) bool {
	waits := !task.Started && !task.Succeeded && !task.Failed && !task.Failing && !task.Ending
	return waits && Changed(task, desired)
}

// Changed reports whether a Job was made from something else than the desired one. A Job without a hash is left alone.
func Changed(task state.Task, desired Child) bool {
	return task.MadeFrom != "" && task.MadeFrom != desired.Object.GetAnnotations()[dbv1.AnnotationApplied]
}
