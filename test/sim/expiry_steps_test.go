/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// nightly is the name of the backup that the schedule of the stories creates on a day of January, from 1.
func nightly(day int) string { return fmt.Sprintf("orders-nightly-26010%d0300", day) }

// forged creates DatabaseBackups with the labels of the schedule and their own destination.
func forged(count int) world.Step {
	return world.Step{What: fmt.Sprintf("somebody creates %d DatabaseBackups with the labels of the schedule and a destination of their own", count), Do: func(w *world.World) {
		for i := range count {
			b := &dbv1.DatabaseBackup{ObjectMeta: w.Meta(fmt.Sprintf("forged-%d", i))}
			b.Labels = map[string]string{
				dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelInstance: w.Name, dbv1.LabelSchedule: "nightly",
				dbv1.LabelClusterUID: string(w.Cluster().UID),
			}
			b.Annotations = map[string]string{dbv1.AnnotationScheduled: fmt.Sprintf("2026-01-02T0%d:00:00Z", 4+i)}
			b.Spec = dbv1.DatabaseBackupSpec{Cluster: w.Name, DeletionPolicy: dbv1.BackupRetain, Destination: &dbv1.BackupDestination{URL: "s3://elsewhere", CredentialSource: dbv1.CredentialsWorkloadIdentity}}
			w.Store.Put(b)
		}
	}}
}

// copied is kubectl get -o yaml, another name, kubectl apply: the API server drops the status.
func copied(from, to string) world.Step {
	return world.Step{What: fmt.Sprintf("somebody copies DatabaseBackup %s to %s", from, to), Do: func(w *world.World) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.Meta(to)}
		was := store.Get[*dbv1.DatabaseBackup](w.Store, from)
		b.Labels, b.Annotations, b.Spec = was.Labels, was.Annotations, was.Spec
		w.Store.Put(b)
	}}
}

// replaced deletes a cluster with its members and claims, despite finalizers. Another program restores it under the
// same name, as a tool that backs up namespaces does.
func replaced() world.Step {
	return world.Step{What: "the cluster and all of it are deleted by force, and another program creates it and its StatefulSet again", Do: func(w *world.World) {
		cluster, set := w.Cluster(), store.Get[*appsv1.StatefulSet](w.Store, w.Name)
		target := []client.Object{w.Cluster(), store.Get[*appsv1.StatefulSet](w.Store, w.Name)}
		for _, pod := range w.Members() {
			target = append(target, pod)
		}
		for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
			if w.IsMemberClaim(claim) {
				claim.DeletionTimestamp = new(metav1.NewTime(w.Clock.Now()))
				w.Store.Put(claim)
				target = append(target, claim)
			}
		}
		for _, o := range target {
			w.Store.Remove(o)
		}
		previous := cluster.UID
		cluster.Status = dbv1.DatabaseClusterStatus{}
		w.Store.Put(cluster)
		next := strings.NewReplacer(string(previous), string(w.Cluster().UID))
		text, err := json.Marshal(set)
		world.Must(err)
		again := &appsv1.StatefulSet{}
		world.Must(json.Unmarshal([]byte(next.Replace(string(text))), again))
		again.Status = appsv1.StatefulSetStatus{}
		w.Store.Put(again)
	}}
}
