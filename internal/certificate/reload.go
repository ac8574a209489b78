/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// reload starts a Job for a certificate that not all members serve, once all members can load it. Members that start later load
// the certificate anyway.
func reload(s *situation.Situation) operation.List {
	if !s.Reloads() || !s.TLS.Certificate.Valid() || s.Incompatible != nil || s.Image == "" {
		return nil
	}
	switch r := run(s); {
	case r.Step == jobs.Create && !served(s) && loadable(s) && s.JobObstacle() == "":
		return operation.List{operation.StartJob("load the certificate by "+desired(s).String(), desired(s))}
	case r.Step == jobs.Recreate:
		return operation.Deletion(operation.Recreation(r.Job))
	default:
		return nil
	}
}

func desired(s *situation.Situation) objects.Child {
	return reloadJob(s.Cluster, s.Engine, s.Image, s.TLS.Certificate.Identity)
}

// run runs the Job. The operator re-creates a Job for another certificate at once: as long as it exists, no member has loaded a later
// certificate by a reload.
func run(s *situation.Situation) jobs.Result {
	f := state.FactsOf[Facts](s.Observed)
	policy := reloadAction.Policy(s.Cluster)
	policy.Restart = f.Reloaded != s.TLS.Certificate.Identity
	policy.Purpose = "members load the certificate by Job " + f.Reload.Name
	if s.Reloads() && s.Image != "" && s.Engine.Spec.TLS != nil {
		policy.Desired = []objects.Child{desired(s)}
	}
	return jobs.Run(policy, f.Reload, f.Reloading, s.At)
}

// reloading describes the reload of the certificate; "" if members need none. Failed is true if the user must act.
func reloading(s *situation.Situation) (text string, failed bool) {
	if served(s) || !s.Reloads() || !s.TLS.Certificate.Valid() {
		return "", false
	}
	if s.Image == "" {
		return "members cannot load the certificate, because the operator has no --transfer-image: set that flag of the operator", true
	}
	r := run(s)
	switch r.Step {
	case jobs.Create, jobs.Recreate, jobs.AwaitDeletion, jobs.Done:
		switch {
		case awaitsRestart(s):
			return "members load the certificate after outdated members have restarted", false
		case !mounted(s):
			return "members load the certificate when they restart", false
		}
		return "members load the certificate after all of them are ready", false
	case jobs.Failed, jobs.Lost:
		return fmt.Sprintf("members could not load the certificate: %s. See kubectl logs job/%s, then delete the Job to try again", r.Cause,
			r.Job.Name), true
	case jobs.Wait:
	}
	return r.Message, r.NeedsUser()
}

// stalled is the cause for which the user must act before all members serve the certificate.
func stalled(s *situation.Situation) *situation.Stall {
	if s.Cluster.Spec.TLS == nil {
		return nil
	}
	if text, failed := reloading(s); failed {
		return &situation.Stall{Reason: dbv1.ReasonReloadFailed, Message: text}
	}
	return nil
}
