/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// KeptConfiguration is a hash of the configuration as the members keep it; "" if it is unknown.
func (s *Situation) KeptConfiguration() string {
	name, key := engine.ConfigurationMap(s.Cluster.Name, s.Engine)
	if name == "" || s.Kept == nil {
		return ""
	}
	return pods.EntryContent(s.Kept, key)
}

// KeptWrite identifies the last write of the configuration that members keep.
func (s *Situation) KeptWrite() string {
	last := []string{"written"}
	if s.Kept != nil {
		last = append(last, string(s.Kept.UID), s.Kept.ResourceVersion)
	}
	return objects.Hash(last)
}

// LeftBy reports whether members are known to keep the configuration as the Job of a task left it. Either nothing has been written since
// before the Job started, because the record has this write. Or the last write precedes the end of the Job: its time is the newest in
// managedFields. In doubt, configure runs again in a Job of another name, and the record identifies the write that caused the doubt. So a
// doubt costs one more Job, and each later one needs another write. That requires that a run which changes nothing writes nothing.
//
//   - A slow scheduler or node: the pod waits for longer than configure waits after its last write, so one more Job runs.
//   - The time is unknown, because a client has removed managedFields, or the pod no longer exists: one more Job runs.
//   - The clocks of the API server and the node differ: no effect, because each clock is only compared with itself.
//   - The clocks of two API servers differ: one more Job runs if the one that writes is ahead. If it is behind by a minute, a change of
//     another client within a minute after the Job is overlooked.
func (s *Situation) LeftBy(task jobs.Job) bool {
	name, _ := engine.ConfigurationMap(s.Cluster.Name, s.Engine)
	if name == "" || s.ConfigurationChanged() == s.KeptWrite() {
		return true
	}
	return s.KeptConfiguration() != "" && precedes(s.KeptAt, task.EndsAfter) // the API server has no time of a removal
}

// lastLook is how long an action needs at most to end after it has checked the last time that its configuration is stored.
const lastLook = time.Second

// precedes reports whether a write is known to precede the last check of an action. A write in a second may have happened at its end.
func precedes(written, endsAfter time.Time) bool {
	return !written.IsZero() && !endsAfter.Before(written.Add(time.Second+lastLook))
}
