/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Bounds of the texts in the status.
const maxText, maxAnswer, maxWaiting = 2048, 1024, 1024

// report records the result of the last Job that has ended, and why none follows. Databases and DatabaseUsers report it about themselves.
func report(found Facts, waiting string, at time.Time) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		if run, is := found.newest(at); is && (status.Objects == nil || status.Objects.JobUID != string(run.UID) || run.Result != nil) {
			status.Objects = resultOf(run)
		}
		switch {
		case status.Objects != nil && status.Objects.JobUID == "" && waiting == "":
			status.Objects = nil
		case status.Objects != nil:
			status.Objects.Waiting = pods.Head(waiting, maxWaiting)
		case waiting != "":
			status.Objects = &dbv1.ClusterObjectsStatus{Waiting: pods.Head(waiting, maxWaiting)}
		}
		return nil
	}
}

// newest is the newest Job that is over; found is false if there is none.
func (f Facts) newest(at time.Time) (run ObjectsRun, found bool) {
	for _, run := range slices.Backward(f.Jobs) {
		if over(run.Job, at) {
			return run, true
		}
	}
	return ObjectsRun{}, false
}

func resultOf(run ObjectsRun) *dbv1.ClusterObjectsStatus {
	s := &dbv1.ClusterObjectsStatus{JobUID: string(run.UID), Occasion: run.Occasion, CheckedAt: run.EndTime.Rfc3339Copy()}
	switch {
	case !run.Succeeded:
		s.Message = pods.Head(cmp.Or(run.Cause(), "the node of its pod does not respond"), maxText)
	case run.Result == nil || run.Result.Objects == nil:
		s.Message = "the Job has no result"
	default:
		s.Results = run.Result.Objects.Results
		for _, a := range run.Result.Objects.Answers {
			s.Answers = append(s.Answers, dbv1.ClusterObjectAnswer{ID: a.ID, Result: string(a.Result), Message: pods.Head(a.Message, maxAnswer)})
		}
	}
	return s
}
