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
)

// nightly is the name of the backup that the schedule of the stories creates on a day of January, from 1.
func nightly(day int) string { return fmt.Sprintf("orders-nightly-26010%d0300", day) }

// forged creates DatabaseBackups with the labels of the schedule and their own destination.
func forged(count int) step {
	return step{what: fmt.Sprintf("somebody creates %d DatabaseBackups with the labels of the schedule and a destination of their own", count), do: func(w *world) {
		for i := range count {
			b := &dbv1.DatabaseBackup{ObjectMeta: w.object(fmt.Sprintf("forged-%d", i))}
			b.Labels = map[string]string{
				dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelInstance: w.name, dbv1.LabelSchedule: "nightly",
				dbv1.LabelClusterUID: string(w.cluster().UID),
			}
			b.Annotations = map[string]string{dbv1.AnnotationScheduled: fmt.Sprintf("2026-01-02T0%d:00:00Z", 4+i)}
			b.Spec = dbv1.DatabaseBackupSpec{Cluster: w.name, DeletionPolicy: dbv1.BackupRetain, Destination: &dbv1.BackupDestination{URL: "s3://elsewhere", CredentialSource: dbv1.CredentialsWorkloadIdentity}}
			w.store.put(b)
		}
	}}
}

// copied is kubectl get -o yaml, another name, kubectl apply: the API server drops the status.
func copied(from, to string) step {
	return step{what: fmt.Sprintf("somebody copies DatabaseBackup %s to %s", from, to), do: func(w *world) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.object(to)}
		was := get[*dbv1.DatabaseBackup](w.store, from)
		b.Labels, b.Annotations, b.Spec = was.Labels, was.Annotations, was.Spec
		w.store.put(b)
	}}
}

// replaced deletes a cluster with its members and claims, despite finalizers. Another program restores it under the
// same name, as a tool that backs up namespaces does.
func replaced() step {
	return step{what: "the cluster and all of it are deleted by force, and another program creates it and its StatefulSet again", do: func(w *world) {
		cluster, set := w.cluster(), get[*appsv1.StatefulSet](w.store, w.name)
		target := []client.Object{w.cluster(), get[*appsv1.StatefulSet](w.store, w.name)}
		for _, pod := range w.members() {
			target = append(target, pod)
		}
		for _, claim := range all[*corev1.PersistentVolumeClaim](w.store) {
			if w.isMemberClaim(claim) {
				claim.DeletionTimestamp = new(metav1.NewTime(w.clock.Now()))
				w.store.put(claim)
				target = append(target, claim)
			}
		}
		for _, o := range target {
			w.store.remove(o)
		}
		previous := cluster.UID
		cluster.Status = dbv1.DatabaseClusterStatus{}
		w.store.put(cluster)
		next := strings.NewReplacer(string(previous), string(w.cluster().UID))
		text, err := json.Marshal(set)
		must(err)
		again := &appsv1.StatefulSet{}
		must(json.Unmarshal([]byte(next.Replace(string(text))), again))
		again.Status = appsv1.StatefulSetStatus{}
		w.store.put(again)
	}}
}
