/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// lossSequences test clusters that lose volumes with data. Members with data of their own do not start empty without consent.
var lossSequences = []sequence{
	{"volume-lost", []step{running(1), loseVolume(0), startEmpty("orders-0"), loseVolume(0), startEmpty("orders-0/again")}},
	{"volume-of-one-member-lost", []step{running(3), loseVolume(1), image("database:2"), scale(4), startEmpty("orders-1")}},
	{"volume-lost-while-hibernated", []step{running(2), hibernate(true), loseVolume(1), hibernate(false), startEmpty("orders-1")}},
	{"volume-lost-while-away", []step{running(1), away(true), loseVolume(0), away(false), startEmpty("orders-0")}},
	{"volume-lost-with-the-statefulset", []step{running(2), together(vanishedMembers(), loseVolume(0)), startEmpty("orders-0")}},
	{"volume-lost-and-consent-to-another", []step{running(2), startEmpty("orders-0"), startEmpty(""), loseVolume(1), startEmpty("orders-0"), startEmpty("orders-1")}},
	{"volume-lost-then-deleted", []step{running(1), loseVolume(0), remove()}},
	{"volume-lost-after-growth", []step{running(2), grow("2Gi"), loseVolume(1), grow("3Gi"), startEmpty("orders-1")}},
	{"volume-of-a-removed-member-deleted", []step{running(2), scale(1), deleteClaim("data-orders-1"), scale(2)}},
	{"volume-lost-then-removed", []step{running(2), loseVolume(1), image("database:2"), scale(1), scale(2), startEmpty("orders-1")}},
	{"volume-lost-then-hibernated", []step{running(3), loseVolume(2), hibernate(true), hibernate(false), startEmpty("orders-2")}},
	{"volume-of-a-pod-without-a-node-lost", []step{
		running(1), affinity("no node", nowhere()), deleteClaim("data-orders-0"), affinity("any node", nil), startEmpty("orders-0"),
	}},
	{"volume-of-a-restore-that-changes", []step{
		inBucket("old", 2), inBucket("new", 2), soon(5, withEngine(create(2, saved, fromLocation("old")))), away(true), halfFinished(),
		set("another backup is named", fromLocation("new")), away(false), holds("new of member"),
	}},
	{"volume-replaced-by-its-user", []step{running(2), replaceByCopy(1)}},
	{"volume-of-a-removed-member-kept", []step{running(2), scale(1), scale(2), loseVolume(1), startEmpty("orders-1")}},
	{"volume-lost-with-backups", []step{
		runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), loseVolume(0), night(3), startEmpty("orders-0"), night(4), night(5), night(6),
	}},
	{"volume-wiped-with-backups", []step{
		runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), wipe(0), night(3), night(4), night(5), loseVolume(0), startEmpty("orders-0"),
	}},
	{"pair-lost-but-for-removed-members", []step{
		createPair(pairEngine), scale(1), hibernate(true), deleteClaim("data-orders-0"), hibernate(false), remove(), loseVolumes(3), createPair(pairEngine),
	}},
	{"pair-lost-then-scaled-out", []step{createPair(pairEngine), scale(1), loseVolume(0), scale(2), remove(), loseVolumes(3), createPair(pairEngine)}},
	{"voters-lost", []step{createVoters(), together(loseVolume(0), loseVolume(1)), remove(), loseVolumes(3), createVoters()}},
	{"pair-lost", []step{createPair(pairEngine), loseVolume(0), loseVolumes(3), remove(), loseVolumes(3), createPair(pairEngine)}},
}

// loseVolume deletes the claim and the pod of a member.
func loseVolume(ordinal int32) step {
	return step{what: fmt.Sprintf("claim and pod of member %d are deleted", ordinal), do: func(w *world) { w.loseVolume(ordinal) }}
}

func loseVolumes(members int32) step {
	return step{what: "all claims and pods are deleted", do: func(w *world) {
		for ordinal := range members {
			w.loseVolume(ordinal)
		}
	}}
}

func (w *world) loseVolume(ordinal int32) {
	if claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal)); claim != nil {
		deleted(w, claim)
	}
	if pod := get[*corev1.Pod](w.store, naming.Member(w.name, ordinal)); pod != nil {
		deleted(w, pod)
	}
}

// wipe is a node that was installed again: the directory of its local volume is empty, and the claim is the same.
func wipe(ordinal int32) step {
	return step{what: fmt.Sprintf("the volume of member %d is wiped under its claim", ordinal), do: func(w *world) {
		claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal))
		w.disk.volumes[claim.UID] = volume{wipes: w.disk.volumes[claim.UID].wipes + 1}
		deleted(w, get[*corev1.Pod](w.store, naming.Member(w.name, ordinal)))
	}}
}

// halfFinished is the first write of the end of a restore: the operator ends before the others.
func halfFinished() step {
	return step{what: "claim 0 counts as restored", do: func(w *world) {
		claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, 0))
		delete(claim.Annotations, dbv1.AnnotationRestoring)
		claim.Annotations[dbv1.AnnotationRestored] = bucket + "/old"
		w.store.put(claim)
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

// vanishedMembers deletes the StatefulSet with its pods.
func vanishedMembers() step { return deleteStatefulSet("Background") }

// startEmpty asks for a member that starts with the volume that it has; "" takes the request back.
func startEmpty(request string) step {
	return annotateCluster(fmt.Sprintf("the annotation rebuild is set to %q", request), dbv1.AnnotationRebuild, request)
}

// watchLosses: at the end of a step, no member with data of its own serves with another volume than before, unless the user has asked
// for exactly that member since. The volume of a member that was removed, and is deleted, does not matter.
func (w *world) watchLosses() {
	cluster := w.cluster()
	if cluster == nil || w.disk.shared.topology != "" || w.away {
		return
	}
	d := w.disk
	d.serving = maps.Clone(d.serving)
	if d.servedBy != cluster.UID { // the next cluster may start empty
		d.serving, d.servedBy = map[int32]types.UID{}, cluster.UID
	}
	request := cluster.Annotations[dbv1.AnnotationRebuild]
	for ordinal := range int32(9) {
		claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(w.name, ordinal))
		if claim == nil || claim.DeletionTimestamp != nil {
			if ordinal >= cluster.Spec.Replicas {
				delete(d.serving, ordinal)
			}
			continue
		}
		pod := get[*corev1.Pod](w.store, naming.Member(w.name, ordinal))
		if pod == nil || !isReady(pod) || pod.DeletionTimestamp != nil || claim.Labels[dbv1.LabelClusterUID] != string(cluster.UID) {
			continue
		}
		before, had := d.serving[ordinal]
		asked := podOf(request) == pod.Name && request != d.consent
		if had && before != claim.UID && !asked && claim.Spec.DataSource == nil {
			w.breaks("pod %s serves with an empty volume, although its member had data", pod.Name)
		}
		d.serving[ordinal] = claim.UID
	}
	d.consent = request
}

// podOf is the pod of a request.
func podOf(request string) string {
	for i := range request {
		if request[i] == '/' {
			return request[:i]
		}
	}
	return request
}

// watchLastCopies: the operator never deletes the last complete backup of a database on a volume.
func (w *world) watchLastCopies(target *dbv1.DatabaseBackup) {
	if target.Status.Phase != dbv1.BackupCompleted || w.disk.shared.topology != "" {
		return
	}
	there := w.disk.bucket[target.Status.Location]
	for member, source := range there.sources {
		if !w.hasOtherCopy(target, source.volume, there.parts[member]) {
			w.breaks("DatabaseBackup %s is deleted, although no other one has the data of the volume of member %d", target.Name, member)
		}
	}
}

func (w *world) hasOtherCopy(than *dbv1.DatabaseBackup, volume types.UID, data string) bool {
	for _, b := range all[*dbv1.DatabaseBackup](w.store) {
		if b.UID == than.UID || b.DeletionTimestamp != nil || b.Status.Phase != dbv1.BackupCompleted {
			continue
		}
		there := w.disk.bucket[b.Status.Location]
		for member, source := range there.sources {
			if source.volume == volume && there.parts[member] == data {
				return true
			}
		}
	}
	return false
}

// volumeRead is the volume of the member that a pod of a Job reads.
func (w *world) volumeRead(pod *corev1.Pod) types.UID {
	claim := w.claimOf(pod, naming.DataVolume)
	if claim == nil {
		claim = get[*corev1.PersistentVolumeClaim](w.store, naming.DataVolume+"-"+memberIn(pod, "DBC_MEMBER"))
	}
	if claim == nil {
		return ""
	}
	return claim.UID
}

// likened is an operator that reads lists with a change.
func likened[List client.ObjectList](change func(List)) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err := c.List(ctx, list, options...)
		if all, is := list.(List); is && err == nil {
			change(all)
		}
		return err
	}}
}

var lossMutants = map[string]mutant{
	"retention takes all databases on a volume for the same": {
		likened(func(backups *dbv1.DatabaseBackupList) {
			for i := range backups.Items {
				for j := range backups.Items[i].Status.Streams {
					backups.Items[i].Status.Streams[j].Identity = ""
				}
			}
		}), "volume-wiped-with-backups", "no other one has the data of the volume of member 0",
	},
	"a volume is known by the name of its claim": {
		likened(func(claims *corev1.PersistentVolumeClaimList) {
			for i := range claims.Items {
				claims.Items[i].UID = types.UID(claims.Items[i].Name)
			}
		}), "volume-lost", "serves with an empty volume, although its member had data",
	},
	"retention takes the data of all volumes for the same": {
		likened(func(backups *dbv1.DatabaseBackupList) {
			for i := range backups.Items {
				if b := &backups.Items[i]; b.Status.Phase == dbv1.BackupCompleted {
					b.Status.Replicas, b.Status.Streams = 0, nil
				}
			}
		}), "volume-lost-with-backups", "no other one has the data of the volume of member 0",
	},
}

func init() {
	sequences = append(sequences, lossSequences...)
	maps.Copy(dataMutants, lossMutants)
}
