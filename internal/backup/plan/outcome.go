/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// record records the result of a member. If its pod no longer exists, its sizes are unknown.
func (s situation) record(p BackupPlan, result *protocol.Result) BackupPlan {
	stream := dbv1.BackupStream{Ordinal: s.ordinal, VolumeUID: s.volumeRead()}
	if result != nil {
		stream.Bytes, stream.StoredBytes, stream.SHA256 = result.Bytes, result.StoredBytes, result.SHA256
		if !result.Completed.IsZero() {
			stream.CompletionTime = new(metav1.NewTime(result.Completed))
		}
		stream.Facts, stream.CheckMessage = recordedFacts(s.Engine, p.Status.Engine, result.Check)
		stream.Identity = identity(s.Engine, p.Status.Engine, result.Check)
	}
	p.Status.Streams = append(p.Status.Streams, stream)
	p = progress(p, nil).running(fmt.Sprintf("%d of %d members are backed up", len(p.Status.Streams), p.Status.Replicas))
	if _, left := next(p.Status); !left {
		return s.complete(p)
	}
	return p
}

// volumeRead is the UID of the claim that the Job of the current member has read, of a member with data of its own. A claim that is
// younger than the backup may have replaced it meanwhile.
func (s situation) volumeRead() string {
	if s.Source == nil || s.Source.Created.After(s.backup.CreationTimestamp.Time) {
		return ""
	}
	return string(s.Source.UID)
}

// progress records the transferred bytes: of the finished members, and of the current one.
func progress(p BackupPlan, now *protocol.Progress) BackupPlan {
	is := &p.Status
	if now == nil {
		now = &protocol.Progress{}
	} else {
		is.Rate = rate(now.BytesPerSecond)
	}
	bytes, stored := now.Bytes, now.StoredBytes
	for _, stream := range is.Streams {
		bytes, stored = bytes+stream.Bytes, stored+stream.StoredBytes
	}
	if bytes > 0 {
		is.Bytes, is.StoredBytes, is.Size = bytes, stored, size(bytes)
	}
	return p
}

func (s situation) complete(p BackupPlan) BackupPlan {
	p = s.finish(p, dbv1.BackupCompleted, unchecked(p.Status))
	is := &p.Status
	if took := is.CompletionTime.Sub(is.StartTime.Time); is.Bytes > 0 && took > 0 {
		is.Rate = rate(float64(is.Bytes) / took.Seconds())
	}
	return p
}

// fail sets the phase of the backup to Failed, for a reason.
func (s situation) fail(p BackupPlan, why string) BackupPlan {
	p = s.finish(p, dbv1.BackupFailed, why)
	p.Stalled, p.Status.Rate = nil, ""
	return p
}

func (s situation) finish(p BackupPlan, phase dbv1.BackupPhase, message string) BackupPlan {
	is := &p.Status
	is.Phase, is.CompletionTime = phase, &metav1.Time{Time: s.At}
	if is.StartTime != nil {
		is.Duration = duration(s.At.Sub(is.StartTime.Time))
	}
	return p.running(message).in(0)
}

// duration is rounded for messages.
func duration(d time.Duration) string { return d.Round(time.Second).String() }
