/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// goOn backs up one member after the other.
func (p *Plan) goOn(backup *dbv1.DatabaseBackup, observed Observed) {
	p.AddFinalizer = !held(backup)
	ordinal, left := next(backup.Status)
	if broken := void(backup, observed); broken != "" {
		p.giveUp(backup, observed, ordinal, broken)
		return
	}
	if !left {
		p.complete(observed)
		return
	}
	name := naming.BackupJob(backup.Spec.Cluster, backup.UID, ordinal)
	usual := fmt.Sprintf("Job %s backs up member %d of %d", name, ordinal+1, backup.Status.Members)
	switch job, found := observed.job(name); {
	case !found:
		p.startMember(backup, observed, ordinal)
	case job.Ending && observed.At.After(patience(backup, observed, ordinal).Add(state.Unanswered)):
		p.fail(observed, fmt.Sprintf("Job %s was deleted and does not go: its pod %s does not answer", name, job.Pod))
	case job.Ending:
		p.Again = waitingAgain
		p.running(fmt.Sprintf("waiting for Job %s to be deleted", name))
	case differs(backup, observed):
		p.Step = StopJob{job}
		p.running(fmt.Sprintf("stopping Job %s: the engine or the image of DatabaseCluster %s has changed, and the backup begins again", name, backup.Spec.Cluster))
	case job.Succeeded:
		p.record(observed, ordinal, job.Result)
	case observed.failed(job, deadline(observed.Cluster)):
		p.fail(observed, why(job, usual, backup.Status.Message))
	case memberOutdated(backup, observed, job, ordinal):
		p.running(p.recreate(job))
	default:
		p.running(p.usually(job, usual, backup.Status.Message))
		p.missing(observed, job)
		p.unmet(observed, job)
		p.Again = progressAgain
		p.progress(observed.Progress)
	}
}

// startMember makes the Job of the next member. One that was made and is gone is made again: what it wrote is
// found by the UID.
func (p *Plan) startMember(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) {
	way, wait := p.approach(backup, observed, ordinal)
	switch {
	case observed.Yields && observed.Stray == "":
		p.yield(wait)
	case way == never, way == notYet && waited(backup, observed, ordinal):
		p.fail(observed, wait)
	case way == notYet:
		p.running(wait)
		p.Again = waitingAgain
	case differs(backup, observed):
		p.Status.Engine, p.Status.Image = observed.Cluster.Spec.Engine, observed.Cluster.Spec.Image
		p.running("starting") // the record says what the Job is made with before there is a Job
	default:
		p.Step = MakeJob{Job: backupJob(backup, observed, ordinal, way == offline)}
		p.running(p.Status.Message)
	}
}

// approach is how the member can be backed up now, or what keeps it.
func (p *Plan) approach(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) (way, string) {
	switch text := p.unable(backup, observed); {
	case observed.Stray != "":
		return notYet, fmt.Sprintf("waiting for pod %s to end: somebody deleted its Job while it ran", observed.Stray)
	case text != "":
		return notYet, text
	case observed.Before != "":
		return notYet, p.queued(observed)
	default:
		return reach(observed, ordinal)
	}
}

func (p *Plan) running(text string) { p.Status.Message, p.Why = text, text }

// usually is what a Job does, or what is wrong with it. While its deadline takes its pod away, that says nothing any
// more: what was wrong before stays.
func (p *Plan) usually(job Job, usual, seen string) string {
	trouble, blocked := fmt.Sprintf("Job %s is tried again: ", job.Job), fmt.Sprintf("Job %s cannot start: ", job.Job)
	switch cause := job.Cause(); {
	case job.Blocked():
		return p.stall(dbv1.ReasonJobBlocked, fmt.Sprintf("%s%s. %s", blocked, cause, job.Unblock()))
	case (job.Failing || job.Pod == "") && (strings.HasPrefix(seen, trouble) || strings.HasPrefix(seen, blocked)):
		return seen
	case cause != "" && job.Final:
		return fmt.Sprintf("Job %s has failed: %s", job.Job, cause)
	case cause != "":
		p.Trouble = trouble + cause
		return p.Trouble
	default:
		return usual
	}
}

// why is the cause of a failure. When the deadline has passed, the pod is gone with what it could have said: what
// was seen of it last tells more.
func why(job Job, usual, seen string) string {
	cause := job.cause()
	if cause != job.Failure {
		return cause
	}
	cause = fmt.Sprintf("Job %s failed: %s", job.Job, cause)
	if seen != "" && seen != usual {
		cause += "; " + seen
	}
	return cause
}

// record notes what a member gave. Where the pod is gone that did it, so are the sizes.
func (p *Plan) record(observed Observed, ordinal int32, result *state.Result) {
	stream := dbv1.BackupStream{Ordinal: ordinal}
	if result != nil {
		stream.Bytes, stream.StoredBytes, stream.SHA256 = result.Bytes, result.StoredBytes, result.SHA256
		stream.Facts, stream.CheckMessage = recorded(observed.Engine, p.Status.Engine, result.Check)
	}
	p.Status.Streams = append(p.Status.Streams, stream)
	p.progress(nil)
	p.running(fmt.Sprintf("%d of %d members are backed up", len(p.Status.Streams), p.Status.Members))
	if _, left := next(p.Status); !left {
		p.complete(observed)
	}
}

// progress says how much was transferred: of the members that are done, and of the one that is being backed up.
func (p *Plan) progress(now *state.Progress) {
	s := &p.Status
	if now == nil {
		now = &state.Progress{}
	} else {
		s.Rate = rate(now.BytesPerSecond)
	}
	bytes, stored := now.Bytes, now.StoredBytes
	for _, stream := range s.Streams {
		bytes, stored = bytes+stream.Bytes, stored+stream.StoredBytes
	}
	if bytes == 0 {
		return
	}
	s.Bytes, s.StoredBytes, s.Size = bytes, stored, size(bytes)
}

func (p *Plan) complete(observed Observed) {
	p.finish(observed, dbv1.BackupCompleted, unchecked(p.Status))
	s := &p.Status
	if took := s.CompletionTime.Sub(s.StartTime.Time); s.Bytes > 0 && took > 0 {
		s.Rate = rate(float64(s.Bytes) / took.Seconds())
	}
}

// fail ends the backup. It returns the reason.
func (p *Plan) fail(observed Observed, why string) string {
	p.finish(observed, dbv1.BackupFailed, why)
	p.Stalled, p.Status.Rate = nil, ""
	return why
}

func (p *Plan) finish(observed Observed, phase dbv1.BackupPhase, message string) {
	s := &p.Status
	s.Phase, s.Message, s.CompletionTime = phase, message, &metav1.Time{Time: observed.At}
	p.Why, p.Again = message, 0
	if s.StartTime != nil {
		s.Duration = duration(observed.At.Sub(s.StartTime.Time))
	}
}

// duration is one for people.
func duration(d time.Duration) string { return d.Round(time.Second).String() }
