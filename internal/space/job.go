/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"fmt"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// protectAction is the kind of the Jobs of the protection. A member that does not answer may be down for minutes.
var protectAction = jobs.ActionKind{
	Component: dbv1.ComponentProtect, Retries: 6, Deadline: jobs.Within(10 * time.Minute), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed, Connects: true,
}

// again is how long a failed Job is kept before another attempt.
const again = time.Minute

// run runs the Job of a state until one has succeeded, as long as the state is recorded. After that comes the next state; "" for none.
func run(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection, after dbv1.ProtectionState) guard {
	g := guard{next: p, refuses: refusal(p), quiet: inherited(p) && !f.Protection.Failed}
	if moved(s, p) && f.Protection.ended() {
		g.next = turned(s, p, p.State)
		return g
	}
	job, can := desired(s, p)
	r := jobs.Run(policy(s, f, p, job, can), f.Protection.Job, f.Protection.Found, s.At)
	g.text, g.left = r.Message, r.Left
	switch r.Step {
	case jobs.Create:
		g.start(s, job, can)
	case jobs.Recreate:
		g.operations = operation.Deletion(operation.JobOf(r.Job).Because("it runs again"))
	case jobs.Done:
		g.done(s, f, after)
	case jobs.Failed:
		g.text = fmt.Sprintf("%s, but Job %s failed: %s. See kubectl logs job/%[2]s. The operator repeats it at %[4]s", purpose(p),
			r.Job.Name, r.Cause, s.At.Add(r.Left).UTC().Format(time.RFC3339))
	case jobs.Lost: // a Job with another name follows: the pod of this one may never end
		g.next = turned(s, p, p.State)
	case jobs.AwaitDeletion, jobs.Wait:
	}
	return g
}

// policy repeats a Job that has failed. One that has succeeded counts until its state ends, because another one would end sessions again.
func policy(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection, job objects.Child, can bool) jobs.Policy {
	policy := protectAction.Policy(s.Cluster)
	policy.Purpose = purpose(p)
	if can {
		policy.Desired = []objects.Child{job}
	}
	if f.Protection.Failed {
		policy.CountsFor = again
	}
	return policy
}

func purpose(p *dbv1.ClusterStorageProtection) string {
	if p.State == dbv1.ProtectionLifting {
		return "the protection of the database is being lifted"
	}
	return "the database is being protected"
}

// done ends a state whose Job has succeeded.
func (g *guard) done(s *situation.Situation, f Facts, after dbv1.ProtectionState) {
	p := g.next
	g.next, g.text, g.refuses = nil, "", ""
	if after != "" {
		g.next = turned(s, p, after)
		g.refuses = refusal(g.next)
		return
	}
	g.unprotected = naming.ClaimTemplate(s.Cluster)
	if left, waits := stale(s, f, p); waits {
		g.next, g.quiet, g.left = p, true, left
	}
}

// start starts the Job if nothing prevents it.
func (g *guard) start(s *situation.Situation, job objects.Child, can bool) {
	_, known := target(s, g.next)
	switch {
	case !can:
		g.text = "the engine has no action protect, so the state of the database is unknown. Set spec.engine to one with that action"
	case s.JobObstacle() != "":
		g.text = "the Job of the action protect cannot start: " + s.JobObstacle()
	case s.Stopping() || s.Cluster.Spec.Paused:
		g.text = "the action protect runs when members run and spec.paused is false"
	case !known:
		g.text = "the action protect runs when a member is the primary"
	default:
		create := operation.StartJob("create "+job.String(), job)
		create.Timed = true
		g.operations = operation.List{create}
		g.text = "Job " + job.Name() + " starts"
	}
}

// mode is what the Job of a state does; "" for a state without one.
func mode(p *dbv1.ClusterStorageProtection) string {
	switch p.State {
	case dbv1.ProtectionProtecting, dbv1.ProtectionRenewing:
		return "on"
	case dbv1.ProtectionLifting:
		return "off"
	case dbv1.ProtectionProtected:
	}
	return ""
}

// jobName names the Job of a state, which begins once; "" for a state without one.
func jobName(cluster *dbv1.DatabaseCluster, p *dbv1.ClusterStorageProtection, ordinal int32) string {
	if mode(p) == "" {
		return ""
	}
	return naming.ActionJob(cluster.Name, "protect", ordinal, string(cluster.UID), mode(p), p.Since.UTC().Format(time.RFC3339))
}

// desired is the Job of a state; can is false if the engine has no such action.
func desired(s *situation.Situation, p *dbv1.ClusterStorageProtection) (job objects.Child, can bool) {
	_, ordinal, named := naming.TemplateOf(s.Cluster.Name, p.Usage.Claim)
	if !offered(s) || !named {
		return job, false
	}
	name := jobName(s.Cluster, p, ordinal)
	if m, known := target(s, p); known {
		ordinal = m.Ordinal
	}
	return jobs.Build(s.Cluster, jobs.Spec{
		Name: name, Kind: protectAction, Owner: objects.OwnedBy(s.Cluster),
		Command: s.Engine.Spec.Actions.Protect.Command, Member: &ordinal,
		Variables: []*corev1ac.EnvVarApplyConfiguration{pods.Variable("DBC_PROTECT", mode(p))},
	}), true
}
