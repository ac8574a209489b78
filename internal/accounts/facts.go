/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// leftOut begins the version of an object that a Job does not know: its Secret was not the one of the decision.
const leftOut = "-"

// Facts are what a pass knows about the databases and users of a cluster.
type Facts struct {
	Declared []Declared
	// Jobs are in the order of their creation.
	Jobs []ObjectsRun
	// Image has the transfer program; "" if the operator runs without it.
	Image string
}

// last is the newest Job; ok is false if there is none.
func (f Facts) last() (run ObjectsRun, ok bool) {
	if len(f.Jobs) == 0 {
		return ObjectsRun{}, false
	}
	return f.Jobs[len(f.Jobs)-1], true
}

// ObjectsRun is a Job with what it knows.
type ObjectsRun struct {
	jobs.Job
	Versions []Version
	Occasion string
	// Bare is true if the Secret that its pod waits for does not exist: the operator ended between the two.
	Bare bool
}

// Version is the version of an object that a Job knows.
type Version struct{ ID, Content string }

func (v Version) leftOut() bool { return strings.HasPrefix(v.Content, leftOut) }

func (v Version) String() string { return v.ID + "=" + v.Content }

// VersionsOf are those in the annotation of a Job, in the order of its document.
func VersionsOf(annotations map[string]string) (all []Version) {
	for pair := range strings.FieldsSeq(annotations[dbv1.AnnotationObjects]) {
		id, version, _ := strings.Cut(pair, "=")
		all = append(all, Version{ID: id, Content: version})
	}
	return all
}

// place returns where the document of a Job has an object as it is now; ok is false if it does not have it.
func place(all []Version, d Declared) (place int, ok bool) {
	for _, v := range all {
		if v.ID == d.ID() {
			return place, v.Content == d.Version()
		}
		if !v.leftOut() {
			place++
		}
	}
	return -1, false
}
