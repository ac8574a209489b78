/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/testing/backups"
	"github.com/dbcluster/databasecluster-operator/internal/testing/mutate"
)

// observedIn is the observation of a pass for a backup, without fields that no decision reads.
func observedIn(t *testing.T, backup *dbv1.DatabaseBackup, objects []client.Object) plan.BackupFacts {
	t.Helper()
	copies := make([]client.Object, 0, len(objects))
	for _, object := range objects {
		stored := object.DeepCopyObject().(client.Object)
		if stored.GetDeletionTimestamp() != nil && len(stored.GetFinalizers()) == 0 {
			stored.SetFinalizers([]string{"test/keep"}) // the fake client rejects a deleted object without a finalizer
		}
		copies = append(copies, stored)
	}
	observed := newServer(t, copies...).observed(t, backup, false)
	for i := range observed.Jobs {
		observed.Jobs[i] = observed.Jobs[i].Facts()
	}
	for i := range observed.Members {
		observed.Members[i] = observed.Members[i].Facts()
	}
	return observed
}

func TestAPredicatePassesEveryFieldThatObserveReads(t *testing.T) {
	waiting := backups.Asked()
	job, pod := runs()
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: `{"message":"no"}`},
	}}}
	other := backups.Started()
	other.Name, other.UID = "other", "other"
	other.CreationTimestamp = metav1.NewTime(backups.Moment.Add(-2 * time.Hour))
	other.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Message: "no"}}
	all := world()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Labels: naming.Labels(all[0].(*dbv1.DatabaseCluster), dbv1.ComponentDatabase), Generation: 1}}
	all = append(all, waiting, job, pod, other, set)
	for kind, watched := range map[string]struct {
		object client.Object
		filter predicate.Predicate
	}{
		"Job":           {job, kit.Changed(kit.JobFacts)},
		"Pod of a Job":  {pod, kit.Changed(kit.PodFacts)},
		"member":        {all[3], kit.Changed(memberFacts)},
		"StatefulSet":   {set, kit.Changed(setFacts)},
		"cluster":       {all[0], kit.Changed(clusterFacts)},
		"other backups": {other, kit.Changed(orderFacts)},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			before, read := observedIn(t, waiting, all), 0
			for path, mutated := range mutate.Each(watched.object) {
				changedWorld := make([]client.Object, 0, len(all))
				for _, object := range all {
					if object == watched.object {
						object = mutated
					}
					changedWorld = append(changedWorld, object)
				}
				if reflect.DeepEqual(before, observedIn(t, waiting, changedWorld)) {
					continue
				}
				read++
				if !watched.filter.Update(event.UpdateEvent{ObjectOld: watched.object, ObjectNew: mutated}) {
					t.Errorf("%s is read, but no predicate passes its change", path)
				}
			}
			if read == 0 {
				t.Error("no mutation changed what is observed: the test is ineffective")
			}
			t.Logf("%d fields are read", read)
		})
	}
}

func TestAPredicatePassesEveryDecisiveFieldOfABackup(t *testing.T) {
	idle := plan.BackupFacts{
		At: backups.Moment, TransferImage: "example.test/operator:1", Queue: plan.Queue{FirstSince: backups.Moment.Add(-time.Hour)},
		Basis: named.Basis{Cluster: backups.Cluster(), Engine: backups.Engine(), EndOrdinal: 2, Members: backups.Members()},
	}
	verifying, leaving := backups.Completed(), backups.Started()
	verifying.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
	leaving.DeletionTimestamp = &metav1.Time{Time: backups.Moment}
	for name, backup := range map[string]*dbv1.DatabaseBackup{"new": backups.Asked(), "running": backups.Started(), "verified": verifying, "deleted": leaving} {
		t.Run(name, func(t *testing.T) {
			outcome := func(b *dbv1.DatabaseBackup) string {
				todo := plan.For(b, idle)
				after := plan.StatusOf(b, todo, nil, metav1.NewTime(backups.Moment))
				return fmt.Sprintf("%s %s %+v %v", todo.Why, todo.Operations, after.Conditions, equality.Semantic.DeepEqual(after, b.Status))
			}
			before, decisive := outcome(backup), 0
			for path, mutated := range mutate.Each(backup) {
				if outcome(mutated.(*dbv1.DatabaseBackup)) == before {
					continue
				}
				decisive++
				if !kit.Changed(backupFacts).Update(event.UpdateEvent{ObjectOld: backup, ObjectNew: mutated}) {
					t.Errorf("%s affects a decision, but no predicate passes its change", path)
				}
			}
			if decisive < 5 {
				t.Errorf("only %d mutations changed the outcome: the test is ineffective", decisive)
			}
		})
	}
}

func TestTheProgressOfABackupStartsNoPass(t *testing.T) {
	before, after := backups.Started(), backups.Started()
	after.Status.Bytes, after.Status.StoredBytes, after.Status.Size, after.Status.Rate = 1, 1, "1 B", "1 B/s"
	for name, filter := range map[string]predicate.Predicate{"itself": kit.Changed(backupFacts), "the others": kit.Changed(orderFacts)} {
		if filter.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
			t.Errorf("%s: progress passes", name)
		}
	}
}
