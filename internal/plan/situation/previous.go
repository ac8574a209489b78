/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Inherits reports whether the members have to wait until volumes of a previous cluster are adopted.
func (s *Situation) Inherits() bool { return s.NotStarted() && len(s.Left) > 0 }

// usesVolumes are the components whose pods have a member's volume, or may have.
var usesVolumes = map[string]bool{dbv1.ComponentDatabase: true, dbv1.ComponentBackup: true, dbv1.ComponentRestore: true}

// UsesVolume reports whether a pod runs that uses a member's volume, or may use one.
func UsesVolume(b state.Bystander) bool { return usesVolumes[b.Component] && !b.Ended }

// previousUser ignores members without a controller: they continue as members of this cluster, with their volumes.
func (s *Situation) previousUser() string {
	for _, b := range s.Bystanders {
		orphan := b.Orphan && b.Component == dbv1.ComponentDatabase
		if UsesVolume(b) && b.Cluster != s.Cluster.UID && b.Cluster != "" && !orphan {
			return "pod " + b.Name
		}
	}
	if len(s.PreviousJobs) > 0 {
		return "Job " + s.PreviousJobs[0]
	}
	return ""
}
