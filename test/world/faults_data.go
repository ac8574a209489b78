/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// LosesData makes the engine's restore succeed without all data.
func LosesData() Step {
	return Step{What: "restores of every backup lose data", Do: func(w *World) {
		for _, l := range w.locations() {
			there := w.disk.bucket[l]
			there.lossy = true
			w.disk.bucket[l] = there
		}
	}}
}

// FillVolume leaves no space on the volume of a member. It ends when the volume grows.
func FillVolume(pod string) Step {
	return Step{What: "the volume of pod " + pod + " is full", Do: func(w *World) {
		uid, _ := w.on(store.Get[*corev1.Pod](w.Store, pod))
		w.disk.full[uid] = true
		w.Store.Touch()
	}}
}

// UseVolume lets clients write until a part of the volume of a member is used. The kubelet measures it.
func UseVolume(pod string, percent int32) Step {
	return Step{What: fmt.Sprintf("%d%% of the volume of pod %s is used", percent, pod), Do: func(w *World) {
		uid, _ := w.on(store.Get[*corev1.Pod](w.Store, pod))
		w.disk.used[uid] = percent
		w.wakes(item{"DatabaseCluster", w.Name})
	}}
}

// Prints sets what the action measure prints about any volume.
func Prints(text string) Step {
	return Step{What: "the action measure prints " + text, Do: func(w *World) { w.disk.parts = text }}
}

// LoseVolume deletes the claim and the pod of a member.
func (w *World) LoseVolume(ordinal int32) {
	if claim := w.Claim(ordinal); claim != nil {
		w.Delete(claim)
	}
	if pod := store.Get[*corev1.Pod](w.Store, naming.Member(w.Name, ordinal)); pod != nil {
		w.Delete(pod)
	}
}

// Wipe is a node that was installed again: the directory of its local volume is empty, and the claim is the same.
func Wipe(ordinal int32) Step {
	return Step{What: fmt.Sprintf("the volume of member %d is wiped under its claim", ordinal), Do: func(w *World) {
		claim := w.Claim(ordinal)
		w.disk.volumes[claim.UID] = volume{wipes: w.disk.volumes[claim.UID].wipes + 1}
		w.Delete(store.Get[*corev1.Pod](w.Store, naming.Member(w.Name, ordinal)))
	}}
}

// ReplaceByCopy lets a user replace a claim by one with a copy of its data.
func ReplaceByCopy(ordinal int32) Step {
	return Step{What: fmt.Sprintf("a user replaces the claim of member %d by one from a snapshot", ordinal), Do: func(w *World) {
		before := w.Claim(ordinal)
		data := w.disk.volumes[before.UID]
		w.LoseVolume(ordinal)
		w.Store.Remove(store.Get[*corev1.PersistentVolumeClaim](w.Store, before.Name))
		copied := before.DeepCopy()
		copied.UID, copied.ResourceVersion, copied.DeletionTimestamp, copied.Finalizers = "", "", nil, nil
		copied.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "yesterday"}
		w.Store.Put(copied)
		w.disk.volumes[store.Get[*corev1.PersistentVolumeClaim](w.Store, before.Name).UID] = data
	}}
}

// Bucket has the backups.
const Bucket = "s3://backups/prod"

// Corrupt damages every backup in the bucket.
func Corrupt() Step {
	return Step{What: "a piece of every backup is damaged", Do: func(w *World) {
		for _, l := range w.locations() {
			there := w.disk.bucket[l]
			there.corrupt = true
			w.disk.bucket[l] = there
		}
	}}
}

// InBucket puts a backup of a previous cluster into the bucket, and creates its DatabaseBackup.
func InBucket(name string, members int) Step {
	return Step{What: fmt.Sprintf("there is DatabaseBackup %s of an earlier cluster of %d", name, members), Do: func(w *World) {
		b := &dbv1.DatabaseBackup{ObjectMeta: w.Meta(name)}
		b.Spec.Cluster, b.Spec.DeletionPolicy = w.Name, dbv1.BackupRetain
		at := fmt.Sprintf("%s/%s", Bucket, name)
		b.Status = dbv1.DatabaseBackupStatus{
			Phase: dbv1.BackupCompleted, Location: at,
			Destination: &dbv1.BackupDestination{URL: Bucket, CredentialSource: dbv1.CredentialsWorkloadIdentity}, ClusterUID: "earlier",
			Engine: AnyEngine, Image: "database:1", Replicas: int32(members), CompletionTime: new(metav1.NewTime(w.Clock.Now())),
		}
		b.UID = w.Store.NextUID(store.Ref(b))
		there := artifact{id: string(b.UID), complete: true}
		for member := range members {
			there = there.with(member, fmt.Sprintf("%s of member %d", name, member))
		}
		w.disk.bucket[at] = there
		w.Store.Put(b)
	}}
}

// InFolder puts a backup of the previous cluster of the same name into the bucket, without a DatabaseBackup: that was in another Kubernetes
// cluster.
func InFolder(name string, members int) Step {
	return Step{What: fmt.Sprintf("the bucket has the backup %s of an earlier cluster of %d", name, members), Do: func(w *World) {
		there := w.completed(artifact{id: name, cluster: "earlier", engine: AnyEngine})
		for member := range members {
			there = there.with(member, fmt.Sprintf("%s of member %d", name, member))
		}
		w.disk.bucket[w.inFolder(name)] = there
	}}
}

// HalfInFolder puts a part of a backup there.
func HalfInFolder(name string) Step {
	return Step{What: fmt.Sprintf("the bucket has a part of the backup %s of an earlier cluster", name), Do: func(w *World) {
		w.disk.bucket[w.inFolder(name)] = artifact{id: name, cluster: "earlier", engine: AnyEngine}.with(0, name+" of member 0")
	}}
}

// OutOfFolder removes a backup from the bucket.
func OutOfFolder(name string) Step {
	return Step{What: fmt.Sprintf("somebody removes the backup %s from the bucket", name), Do: func(w *World) {
		delete(w.disk.bucket, w.inFolder(name))
	}}
}

func (w *World) inFolder(name string) string {
	return fmt.Sprintf("%s/%s/%s/%s", Bucket, w.namespace, w.Name, name)
}

// Holds checks the data in the volumes of the members.
func Holds(what string) Step {
	return Step{What: "the members have " + what, Do: func(w *World) {
		for ordinal := range w.Cluster().Spec.Replicas {
			claim := w.Claim(ordinal)
			if claim == nil {
				w.Breaks("member %d has no volume", ordinal)
			} else if data := w.disk.volumes[claim.UID].data; !strings.HasPrefix(data, what) {
				w.Breaks("member %d has %q, not %q", ordinal, data, what)
			}
		}
	}}
}
