/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// configureJob is the Job that puts the spec in force. It runs before a scale-in, so it finds more members than the spec has.
func configureJob(s *situation.Situation) objects.Child {
	return resources.ConfigureJob(s.Cluster, s.Engine, resources.Configure{
		References: s.References, Changed: s.ConfigurationChanged(), Members: s.End(), Companions: s.Companions != nil,
	})
}

// Configure puts parameters and passwords in force by an action, without a restart of pods. A configuration that failed does not
// prevent a rollout: the members continue with the previous one.
func Configure(s *situation.Situation) phase.Outcome {
	if !s.Unconfigured() || s.Wanted == 0 || !s.Answers() {
		return phase.Over
	}
	job := configureJob(s)
	if outdated := others(s, job.Name()); len(outdated) > 0 {
		return phase.Do(dbv1.ReasonConfiguring, "stopping "+operation.Describe(outdated), operation.Deletion(outdated...)...)
	}
	if ConfigureFailed(s) != nil {
		return phase.Over
	}
	const purpose = "the members get the parameters and passwords of the spec"
	if !s.RecordedAs(dbv1.ConfigurationApplying) { // the previous one is no longer known to be in force
		return phase.Do(dbv1.ReasonConfiguring, purpose, operation.RecordConfiguration(s.Applying()))
	}
	outcome, done := disturb.Run(s, job, dbv1.ReasonConfiguring, purpose)
	if !done {
		return outcome
	}
	if task, _ := s.JobOf(job.Name()); !s.LeftBy(task) {
		return repeat(s, task)
	}
	return phase.Do(dbv1.ReasonConfiguring, "the parameters and passwords are in force", operation.RecordConfiguration(s.InForce()))
}

// repeat lets the action run again, because another client may have written the configuration since it ran. If nothing has been written,
// the next run writes nothing, so the record still identifies the last write when it has ended.
func repeat(s *situation.Situation, task jobs.Job) phase.Outcome {
	name, _ := engine.ConfigurationMap(s.Cluster.Name, s.Engine)
	text := fmt.Sprintf("the action configure runs again, because another client may have changed ConfigMap %s when Job %s ended", name,
		task.Name)
	return phase.Do(dbv1.ReasonConfiguring, text, operation.RecordConfiguration(s.ApplyingAfter(s.KeptWrite())))
}

// others are the unfinished Jobs of other configurations. Two at once would overwrite each other.
func others(s *situation.Situation, job string) []operation.Removal {
	var all []operation.Removal
	for _, t := range s.Jobs {
		if t.Component == dbv1.ComponentConfigure && t.Name != job && !t.Ended() && !t.Ending {
			all = append(all, operation.JobOf(t).Because("the configuration has changed since"))
		}
	}
	return all
}

// unanswered are the exit codes of a Job that has failed without an answer of the database: it runs again after a minute.
var unanswered = []protocol.ExitCode{protocol.ExitDone, protocol.ExitTransient, protocol.ExitPrecondition}

// ConfigureFailed is the stall of a configuration that the database does not accept.
func ConfigureFailed(s *situation.Situation) *situation.Stall {
	if !s.Unconfigured() {
		return nil
	}
	task, exists := s.JobOf(configureJob(s).Name())
	r := jobs.Run(resources.ConfigureAction.Policy(s.Cluster), task, exists, s.At)
	if r.Step != jobs.Lost && (r.Step != jobs.Failed || slices.Contains(unanswered, task.Code)) {
		return nil
	}
	text := fmt.Sprintf(
		"the parameters and passwords of the spec are not in force: %s. Correct spec.parameters, or delete Job %s to try again", r.Cause,
		task.Name)
	if s.Wanted > 0 && s.End() > s.Wanted {
		text += fmt.Sprintf(". Until then, the operator removes no member. To keep %d members, set spec.replicas to that number", s.End())
	}
	return &situation.Stall{Reason: dbv1.ReasonConfigureFailed, Message: text}
}
