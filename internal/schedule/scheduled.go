/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func scheduledBackup(cluster *dbv1.DatabaseCluster, schedule string, at time.Time) CreateBackup {
	return CreateBackup{
		Child:  Scheduled(cluster, schedule, at),
		Origin: dbv1.BackupOrigin{ClusterUID: string(cluster.UID), Schedule: schedule, ScheduledTime: metav1.NewTime(at)},
	}
}

// Scheduled is the DatabaseBackup that a schedule creates for a time. Its data is deleted with it.
func Scheduled(cluster *dbv1.DatabaseCluster, schedule string, at time.Time) objects.Child {
	child := resources.Backup(cluster, naming.ScheduledBackup(cluster.Name, schedule, at), dbv1.BackupDelete)
	labels := child.Object.GetLabels()
	labels[dbv1.LabelSchedule] = schedule
	child.Object.SetLabels(labels)
	child.Object.SetAnnotations(map[string]string{dbv1.AnnotationScheduled: at.UTC().Format(time.RFC3339)})
	return child
}

// unconfirmed reports whether the schedule may have created a backup without an origin: the operator may have crashed before it
// recorded the origin. The backup has to equal the one that the schedule creates, and must not be older than its scheduled time. If
// a user creates such a backup, it serves as well as the schedule's.
func unconfirmed(due CreateBackup, existing state.Backup) bool {
	wanted := dbv1.DatabaseBackup{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(due.Child.Object.Object, &wanted)
	same := err == nil && existing.Cluster == wanted.Spec.Cluster && existing.Policy == wanted.Spec.DeletionPolicy && !existing.Elsewhere
	return same && existing.Schedule == "" && !existing.Created.Before(&due.Origin.ScheduledTime)
}

// resumed is the creation of a backup, under its previous name if an older operator has created it and has not recorded its origin.
func resumed(due CreateBackup, cluster string, strangers []state.Backup) CreateBackup {
	former := naming.FormerScheduledBackup(cluster, due.Origin.Schedule, due.Origin.ScheduledTime.Time)
	if slices.ContainsFunc(strangers, func(b state.Backup) bool { return b.Name == former && !b.Terminating && unconfirmed(due, b) }) {
		due.Child.Object.SetName(former)
	}
	return due
}

// taken reports whether another backup has the name of the one that is due, and describes it. A backup that is being deleted only
// delays the new one.
func taken(due CreateBackup, strangers []state.Backup) (text string, taken bool) {
	i := slices.IndexFunc(strangers, func(b state.Backup) bool { return b.Name == due.Child.Name() })
	switch {
	case i < 0, unconfirmed(due, strangers[i]) && !strangers[i].Terminating:
		return "", false
	case strangers[i].Terminating:
		return "", true
	default:
		return fmt.Sprintf("DatabaseBackup %s exists, but schedule %q did not create it. Delete it, or rename the schedule",
			due.Child.Name(), due.Origin.Schedule), true
	}
}
