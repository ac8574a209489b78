/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Reconfigure lets the action configure run again after another client has changed the configuration that the members keep. Actions on
// members may change it for a moment, so they have to end first. The mark of the change contains the mark of the previous one, so the same
// change counts each time. A ConfigMap that lost its entry is a change, too: the operator creates a deleted one again, empty.
func Reconfigure(s *situation.Situation) phase.Outcome {
	kept := s.KeptConfiguration()
	if s.Kept == nil || !s.RecordedAs(dbv1.ConfigurationInForce) || s.Wanted == 0 || !s.Answers() {
		return phase.Over
	}
	before := s.Configured()
	if was := before.MembersHash; was == "" || was == kept || acts(s) {
		return phase.Over
	}
	text := fmt.Sprintf(
		"another client changed the configuration of the members in ConfigMap %s; the action configure puts spec.parameters in force again",
		s.Kept.Name)
	changed := s.ApplyingAfter(objects.Hash([]string{kept, before.ChangedHash}))
	record := operation.RecordConfiguration(changed)
	record.Event = operation.Warning("ConfigurationChanged", "Configure", text)
	return phase.Do(dbv1.ReasonConfiguring, text, record)
}

// Recorded records the configuration that the members keep if the record lacks it: that of an older operator or engine.
func Recorded(s *situation.Situation) operation.List {
	if s.KeptConfiguration() == "" || !s.RecordedAs(dbv1.ConfigurationInForce) || s.Configured().MembersHash != "" || acts(s) {
		return nil
	}
	return operation.List{operation.RecordConfiguration(s.InForce())}
}

// acts reports whether an action on members has not ended.
func acts(s *situation.Situation) bool {
	return slices.ContainsFunc(s.Jobs, func(t jobs.Job) bool { return !t.Ended() })
}
