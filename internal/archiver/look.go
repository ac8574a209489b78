/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// lookDeadline bounds the Job, which may wait for the log of the newest backup.
	lookDeadline = 2 * time.Hour
	// lookAfter is how long the archive has worked before: one whose state changes all the time starts no Job each time.
	lookAfter = time.Minute
	// lookCounts is the time after which a look is repeated: objects can be lost. lookAgain is that after one that did not find everything
	// of the newest backup.
	lookCounts, lookAgain = 24 * time.Hour, 10 * time.Minute
	// slack is the time before the window that can be recovered, too: clocks differ, and a recovery takes its time.
	slack = time.Hour
)

// lookAction is the kind of the Job that reads what can be recovered, and deletes log that no recovery needs.
var lookAction = jobs.ActionKind{
	Component: dbv1.ComponentRecovery, Retries: 3, Deadline: jobs.Within(lookDeadline), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed,
}

// lookJob is the Job. It reads no member.
func lookJob(s *situation.Situation, found Facts, wanted string) objects.Child {
	cluster := *s.Cluster
	cluster.Spec.Image = image(s, found.Deployment)
	at := cluster.Spec.Backup.Destination
	at.EncryptionSecretName = "" // it reads names and manifests, which are not encrypted
	call := &protocol.Window{
		Of: strings.TrimSuffix(folder(&cluster), "/"), ID: lineage(&cluster), Store: jobs.Store(&at), Patience: lag(&cluster) + tolerated,
		Remove: strings.HasSuffix(wanted, deleting),
	}
	if hours(&cluster) > 0 {
		call.Keep = time.Duration(hours(&cluster))*time.Hour + slack
	}
	for _, b := range trusted(s) {
		call.Trusted = append(call.Trusted, string(b.UID))
		if before := cluster.Status.Recovery; before != nil && slices.Contains(before.Backups, b.Name) {
			call.Named = append(call.Named, string(b.UID))
		}
	}
	job := jobs.Build(&cluster, jobs.Spec{
		Name: naming.RecoveryJob(cluster.Name, cluster.UID), Kind: lookAction, Owner: objects.OwnedBy(&cluster),
		Transfer: &jobs.Transfer{Image: found.Image, Call: call, At: &at},
	})
	return job.Set(wanted, "metadata", "annotations", dbv1.AnnotationOccasion)
}

// look starts the Job when the archive works: once for each occasion, and again when Kubernetes has deleted the finished Job. No member
// waits for it.
func look(s *situation.Situation, found Facts) (operations operation.List, again time.Duration) {
	if !works(s, found) {
		return nil, 0
	}
	if wait := lookAfter - s.At.Sub(found.Pod.ReadySince.Time); wait > 0 {
		return nil, wait
	}
	wanted, done := occasions(s, found)
	desired, policy := lookJob(s, found, wanted), lookAction.Policy(s.Cluster)
	// A Job that runs ends first: each backup that is deleted is another occasion.
	policy.Desired, policy.Restart = []objects.Child{desired}, !done && found.Look.Ended()
	policy.CountsFor = lookCounts
	if behind(found.Look) {
		policy.CountsFor = lookAgain
	}
	r := jobs.Run(policy, found.Look, found.Looked, s.At)
	if r.Step == jobs.Create {
		return operation.List{operation.StartJob("read what can be recovered by "+desired.String(), desired)}, 0
	}
	if r.Step == jobs.Recreate {
		work := operation.Work{Is: operation.Aside, Text: "delete "}
		return operation.Deletions(work, []operation.Removal{operation.JobOf(r.Job).Because("the operator reads the destination again")}), 0
	}
	return nil, r.Left
}

// behind reports whether a look did not find everything of the newest backup, which is stored soon.
func behind(job jobs.Job) bool {
	if !job.Succeeded || job.Result == nil || job.Result.Recoverable == nil {
		return false
	}
	return job.Result.Recoverable.Based && !job.Result.Recoverable.Current
}

// works reports whether the archive works, and Jobs can run.
func works(s *situation.Situation, found Facts) bool {
	ready := found.Image != "" && found.Pod != nil && found.Pod.Ready && s.JobObstacle() == ""
	return ready && engine.Archives(s.Cluster.Spec) && !s.Deleting() && s.Unusable == nil
}

// recovery is what the Job has found; what is known from before if it has not ended.
func recovery(s *situation.Situation, found Facts, before *dbv1.ClusterRecoveryStatus) *dbv1.ClusterRecoveryStatus {
	location, job := pods.Head(Location(s.Cluster), maxText), found.Look
	if before != nil && before.Location != location {
		before = nil
	}
	switch {
	case !strings.HasPrefix(found.Occasion, Location(s.Cluster)+": "):
		return before
	case job.Failed:
		return failed(location, job, before)
	case job.Succeeded && job.Result != nil && job.Result.Recoverable != nil && (before != nil || current(s, found)):
		now := resulting(s, location, *job.Result)
		if !job.Result.Recoverable.Based {
			now.NeedsBackupSince = needs(before, now)
		}
		return now
	}
	return before
}

// failed is the status after a Job that failed: with what is known from before.
func failed(location string, job jobs.Job, before *dbv1.ClusterRecoveryStatus) *dbv1.ClusterRecoveryStatus {
	now := &dbv1.ClusterRecoveryStatus{Location: location, CheckedAt: job.EndTime}
	if before != nil {
		now = before.DeepCopy()
	}
	now.Message = pods.Head(fmt.Sprintf("Job %s failed: %s", job.Name, job.Cause()), maxText)
	return now
}

// resulting is the status by the result of the Job.
func resulting(s *situation.Situation, location string, result protocol.Result) *dbv1.ClusterRecoveryStatus {
	seen := result.Recoverable
	now := &dbv1.ClusterRecoveryStatus{
		Location: location, ArchiveBytes: seen.StoredBytes, CheckedAt: metav1.NewTime(result.Started.Truncate(time.Second)),
		Message: pods.Head(obstacle(s, seen), maxText), Backups: needed(s, seen), UnusableBackups: named(s, seen.Unusable),
	}
	for _, span := range seen.Spans {
		// A time of whole seconds is in the span.
		from, to := span.Oldest.Add(time.Second-time.Nanosecond).Truncate(time.Second), span.Newest.Truncate(time.Second)
		if !to.Before(from) {
			now.Ranges = append(now.Ranges, dbv1.RecoveryRange{Oldest: metav1.NewTime(from), Newest: metav1.NewTime(to)})
		}
	}
	if last := len(now.Ranges) - 1; last >= 0 {
		now.Oldest, now.Newest = &now.Ranges[0].Oldest, &now.Ranges[last].Newest
	}
	return now
}

// needs is since when a backup is needed: one status counts it from the first look, so a backup that does not help is not repeated.
func needs(before, now *dbv1.ClusterRecoveryStatus) *metav1.Time {
	if before != nil && before.NeedsBackupSince != nil {
		return before.NeedsBackupSince
	}
	return &now.CheckedAt
}

// needed are the names of the backups that the window needs; none without a window.
func needed(s *situation.Situation, seen *protocol.Recoverable) []string {
	if hours(s.Cluster) == 0 {
		return nil
	}
	return named(s, seen.Needed)
}

// named are the names of the backups with these UIDs.
func named(s *situation.Situation, uids []string) (names []string) {
	for _, uid := range uids {
		if b, found := s.Last(state.Younger, func(b state.Backup) bool { return string(b.UID) == uid }); found {
			names = append(names, b.Name)
		}
	}
	return names
}

// maxText bounds the texts of the status.
const maxText = 2048

// obstacle is what prevents a recovery, or the deletion of log; "" for nothing.
func obstacle(s *situation.Situation, seen *protocol.Recoverable) string {
	var all []string
	switch {
	case !seen.Based:
		scheduled := slices.ContainsFunc(s.Cluster.Spec.Backup.Schedules, func(b dbv1.BackupSchedule) bool { return !b.Suspend })
		all = append(all, "no usable backup begins in the log that is archived now, so nothing of now can be recovered. "+
			map[bool]string{false: "Create a backup", true: "Wait for the schedule, or create a backup"}[scheduled])
	case !seen.Current:
		all = append(all, "the archive did not have all log of the newest backup yet")
	}
	if seen.Unread != "" {
		all = append(all, "a backup cannot be read, so no log is deleted: "+seen.Unread)
	}
	if seen.Left != "" {
		all = append(all, "some log that no recovery needs remains: "+seen.Left)
	}
	return strings.Join(all, ". ")
}

// replaced describes the DatabaseRestore that replaced the data of each backup with which a recovery may start; "" for none.
func replaced(s *situation.Situation) (restore string) {
	all := trusted(s)
	if len(all) == 0 || slices.ContainsFunc(all, func(b state.Backup) bool { return situation.IsPresent(s.Cluster, b) }) {
		return ""
	}
	return situation.Replacer(s)
}

// recoverable continues the sentence about an archive that works. If the status is not current, it was true at a time.
func recoverable(now *dbv1.ClusterRecoveryStatus, current bool, replaced string) string {
	switch {
	case now != nil && now.Message != "":
		return "; " + now.Message
	case replaced != "":
		return fmt.Sprintf("; %s replaced the data, and no backup since then is complete: only times before that can be "+
			"recovered", replaced)
	case now == nil || now.Oldest == nil:
		return ""
	}
	text := "; any time since %s can be recovered"
	if !current {
		text = "; at " + now.CheckedAt.UTC().Format(time.RFC3339) + ", any time since %s could be recovered"
	}
	if len(now.Ranges) > 1 {
		text += ", and times before a gap: see status.recovery.ranges"
	}
	return fmt.Sprintf(text, now.Ranges[len(now.Ranges)-1].Oldest.UTC().Format(time.RFC3339))
}
