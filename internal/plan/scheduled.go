/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Scheduled is a DatabaseBackup that a schedule creates, and the origin that is written in its status.
type Scheduled struct {
	Child  resources.Child
	Origin dbv1.BackupOrigin
}

func scheduledBackup(cluster *dbv1.DatabaseCluster, schedule string, at time.Time) Scheduled {
	return Scheduled{
		resources.ScheduledBackup(cluster, schedule, at),
		dbv1.BackupOrigin{ClusterUID: string(cluster.UID), Schedule: schedule, ScheduledTime: metav1.NewTime(at)},
	}
}

// Known tells whether a backup has this origin already.
func (s Scheduled) Known(existing *dbv1.DatabaseBackup) bool {
	return equality.Semantic.DeepEqual(existing.Status.Origin, &s.Origin)
}

// Unconfirmed tells whether the schedule may have created a backup that has no origin: a crash may have come before that was
// written. It has to be exactly what the schedule creates, and not older than the time that is due. What a user creates
// like that is as good a backup as the schedule's.
func (s Scheduled) Unconfirmed(existing *dbv1.DatabaseBackup) bool {
	wanted := dbv1.DatabaseBackup{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.Child.Object.Object, &wanted)
	same := err == nil && equality.Semantic.DeepEqual(existing.Spec, wanted.Spec)
	return same && existing.Status.Origin == nil && !existing.CreationTimestamp.Before(&s.Origin.ScheduledTime)
}
