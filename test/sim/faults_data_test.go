/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// losesData makes the engine's restore succeed without all data.
func losesData() step {
	return step{what: "restores of every backup lose data", do: func(w *world) {
		for _, l := range w.locations() {
			there := w.disk.bucket[l]
			there.lossy = true
			w.disk.bucket[l] = there
		}
	}}
}

// fillVolume leaves no space on the volume of a member. It ends when the volume grows.
func fillVolume(pod string) step {
	return step{what: "the volume of pod " + pod + " is full", do: func(w *world) {
		uid, _ := w.on(get[*corev1.Pod](w.store, pod))
		w.disk.full[uid] = true
		w.store.touch()
	}}
}

func (w *world) loseVolume(ordinal int32) {
	if claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal)); claim != nil {
		w.erase(claim)
	}
	if pod := get[*corev1.Pod](w.store, naming.Member(w.name, ordinal)); pod != nil {
		w.erase(pod)
	}
}

// wipe is a node that was installed again: the directory of its local volume is empty, and the claim is the same.
func wipe(ordinal int32) step {
	return step{what: fmt.Sprintf("the volume of member %d is wiped under its claim", ordinal), do: func(w *world) {
		claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal))
		w.disk.volumes[claim.UID] = volume{wipes: w.disk.volumes[claim.UID].wipes + 1}
		w.erase(get[*corev1.Pod](w.store, naming.Member(w.name, ordinal)))
	}}
}

// replaceByCopy lets a user replace a claim by one with a copy of its data.
func replaceByCopy(ordinal int32) step {
	return step{what: fmt.Sprintf("a user replaces the claim of member %d by one from a snapshot", ordinal), do: func(w *world) {
		before := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal))
		data := w.disk.volumes[before.UID]
		w.loseVolume(ordinal)
		w.store.remove(get[*corev1.PersistentVolumeClaim](w.store, before.Name))
		copied := before.DeepCopy()
		copied.UID, copied.ResourceVersion, copied.DeletionTimestamp, copied.Finalizers = "", "", nil, nil
		copied.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "yesterday"}
		w.store.put(copied)
		w.disk.volumes[get[*corev1.PersistentVolumeClaim](w.store, before.Name).UID] = data
	}}
}

// bucket has the backups.
const bucket = "s3://backups/prod"

func corrupt() step {
	return step{what: "a piece of every backup is damaged", do: func(w *world) {
		for _, l := range w.locations() {
			there := w.disk.bucket[l]
			there.corrupt = true
			w.disk.bucket[l] = there
		}
	}}
}

// inBucket puts a backup of a previous cluster into the bucket, and creates its DatabaseBackup.
func inBucket(name string, members int) step {
	return step{what: fmt.Sprintf("there is DatabaseBackup %s of an earlier cluster of %d", name, members), do: func(w *world) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.object(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.name, dbv1.BackupRetain
		at := fmt.Sprintf("%s/%s", bucket, name)
		b.Status = dbv1.DatabaseBackupStatus{
			Phase: dbv1.BackupCompleted, Location: at, Destination: &dbv1.BackupDestination{URL: bucket, CredentialSource: dbv1.CredentialsWorkloadIdentity}, ClusterUID: "earlier",
			Engine: engineName, Image: "database:1", Replicas: int32(members), CompletionTime: new(metav1.NewTime(w.clock.Now())),
		}
		b.UID = w.store.nextUID(ref(b))
		there := artifact{id: string(b.UID), complete: true}
		for member := range members {
			there = there.with(member, fmt.Sprintf("%s of member %d", name, member))
		}
		w.disk.bucket[at] = there
		w.store.put(b)
	}}
}

// holds checks the data in the volumes of the members.
func holds(what string) step {
	return step{what: "the members have " + what, do: func(w *world) {
		for ordinal := range w.cluster().Spec.Replicas {
			claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal))
			if claim == nil {
				w.breaks("member %d has no volume", ordinal)
			} else if data := w.disk.volumes[claim.UID].data; !strings.HasPrefix(data, what) {
				w.breaks("member %d has %q, not %q", ordinal, data, what)
			}
		}
	}}
}
