/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// Marks before the content of a version.
const leftOut, held = "-", "+"

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

// Version is the version of an object when its Job was created.
type Version struct {
	ID, Content string
	// LeftOut is true if the Job does not know the object: its Secret was not the one of the decision.
	LeftOut bool
	// Held is true if the database had the object before.
	Held bool
}

func (v Version) String() string {
	switch {
	case v.LeftOut:
		return v.ID + "=" + leftOut + v.Content
	case v.Held:
		return v.ID + "=" + held + v.Content
	default:
		return v.ID + "=" + v.Content
	}
}

// VersionsOf are those in the annotation of a Job, in the order of its document.
func VersionsOf(annotations map[string]string) (all []Version) {
	for pair := range strings.FieldsSeq(annotations[dbv1.AnnotationObjects]) {
		id, version, _ := strings.Cut(pair, "=")
		content := strings.TrimLeft(version, leftOut+held)
		mark := version[:len(version)-len(content)]
		all = append(all, Version{ID: id, Content: content, LeftOut: mark == leftOut, Held: mark == held})
	}
	return all
}

// find returns the version of an object in a Job, and where its document has it; ok is false if it does not have it as it is now.
func find(all []Version, d Declared) (place int, known Version, ok bool) {
	for _, v := range all {
		if v.ID == d.ID() {
			return place, v, v.Content == d.Version() && !v.LeftOut
		}
		if !v.LeftOut {
			place++
		}
	}
	return -1, Version{}, false
}
