/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import "github.com/dbcluster/databasecluster-operator/internal/objects"

// StartJob creates the Job of an action that disturbs no member.
func StartJob(text string, job objects.Child) Create {
	return Create{Work: Work{Is: Aside, Text: text}, Objects: []objects.Child{job}}
}

// Changes is the change of objects, whose names follow the text; none without objects.
func Changes(work Work, all []Patch) List {
	if len(all) == 0 {
		return nil
	}
	work.Text += Describe(all)
	return List{Change{work, all}}
}

// Deletion deletes objects that the operator created and no longer needs; none without objects.
func Deletion(all ...Removal) List { return Deletions(Work{Is: Cleanup, Text: "delete "}, all) }

// Deletions is the deletion of objects, whose names follow the text; none without objects.
func Deletions(work Work, all []Removal) List {
	if len(all) == 0 {
		return nil
	}
	work.Text += Describe(all)
	return List{Delete{Work: work, Objects: all}}
}
