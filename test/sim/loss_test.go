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
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// lossSequences test clusters that lose volumes with data. Members with data of their own do not start empty without consent.
var lossSequences = []world.Story{
	world.Tell("volume-lost", running(1), loseVolume(0), startEmpty("orders-0"), loseVolume(0), startEmpty("orders-0/again")),
	world.Tell("volume-of-one-member-lost", running(3), loseVolume(1), image("database:2"), scale(4), startEmpty("orders-1")),
	world.Tell("volume-lost-while-hibernated", running(2), hibernate(true), loseVolume(1), hibernate(false), startEmpty("orders-1")),
	world.Tell("volume-without-labels", running(2), unlabel("data-orders-0"), hibernate(true), unlabel("data-orders-1"), hibernate(false)),
	world.Tell("volume-without-labels-deleted", running(2, deleteVolumes), world.Away(true), unlabel("data-orders-1"), remove(), world.Away(false)),
	world.Tell("volume-lost-and-another-without-labels",
		running(2), hibernate(true), deleteClaim("data-orders-1"), claimOfUser("data-orders-1"), hibernate(false)),
	world.Tell("volume-lost-while-away", running(1), world.Away(true), loseVolume(0), world.Away(false), startEmpty("orders-0")),
	world.Tell("volume-lost-with-the-statefulset", running(2), together(vanishedMembers(), loseVolume(0)), startEmpty("orders-0")),
	world.Tell("volume-lost-and-consent-to-another", running(2), startEmpty("orders-0"), startEmpty(""), loseVolume(1), startEmpty("orders-0"), startEmpty("orders-1")),
	world.Tell("volume-lost-then-deleted", running(1), loseVolume(0), remove()),
	world.Tell("volume-lost-after-growth", running(2), grow("2Gi"), loseVolume(1), grow("3Gi"), startEmpty("orders-1")),
	world.Tell("volume-of-a-removed-member-deleted", running(2), scale(1), deleteClaim("data-orders-1"), scale(2)),
	world.Tell("volume-lost-then-removed", running(2), loseVolume(1), image("database:2"), scale(1), scale(2), startEmpty("orders-1")),
	world.Tell("volume-lost-then-hibernated", running(3), loseVolume(2), hibernate(true), hibernate(false), startEmpty("orders-2")),
	world.Tell("volume-of-a-pod-without-a-node-lost",
		running(1), affinity("no node", nowhere()), deleteClaim("data-orders-0"), affinity("any node", nil), startEmpty("orders-0"),
	),
	world.Tell("volume-of-a-restore-that-changes",
		world.InBucket("old", 2), world.InBucket("new", 2), soon(5, withEngine(create(2, saved, fromLocation("old")))), world.Away(true), halfFinished(),
		set("another backup is named", fromLocation("new")), world.Away(false), world.Holds("new of member"),
	),
	world.Tell("volume-replaced-by-its-user", running(2), world.ReplaceByCopy(1)),
	world.Tell("volume-of-a-removed-member-kept", running(2), scale(1), scale(2), loseVolume(1), startEmpty("orders-1")),
	world.Tell("volume-lost-with-backups",
		runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), loseVolume(0), night(3), startEmpty("orders-0"), night(4), night(5), night(6),
	),
	world.Tell("volume-wiped-with-backups",
		runningSaved(1, scheduled("0 3 * * *", 2)), night(1), night(2), world.Wipe(0), night(3), night(4), night(5), loseVolume(0), startEmpty("orders-0"),
	),
	world.Tell("pair-lost-but-for-removed-members",
		createPair(world.PairEngine), scale(1), hibernate(true), deleteClaim("data-orders-0"), hibernate(false), remove(), loseVolumes(3), createPair(world.PairEngine),
	),
	world.Tell("pair-lost-then-scaled-out", createPair(world.PairEngine), scale(1), loseVolume(0), scale(2), remove(), loseVolumes(3), createPair(world.PairEngine)),
	world.Tell("voters-lost", createVoters(), together(loseVolume(0), loseVolume(1)), remove(), loseVolumes(3), createVoters()),
	world.Tell("pair-lost", createPair(world.PairEngine), loseVolume(0), loseVolumes(3), remove(), loseVolumes(3), createPair(world.PairEngine)),
}

// loseVolume deletes the claim and the pod of a member.
func loseVolume(ordinal int32) world.Step {
	return world.Step{What: fmt.Sprintf("claim and pod of member %d are deleted", ordinal), Do: func(w *world.World) { w.LoseVolume(ordinal) }}
}

func loseVolumes(members int32) world.Step {
	return world.Step{What: "all claims and pods are deleted", Do: func(w *world.World) {
		for ordinal := range members {
			w.LoseVolume(ordinal)
		}
	}}
}

// halfFinished is the first write of the end of a restore: the operator ends before the others.
func halfFinished() world.Step {
	return world.Step{What: "claim 0 counts as restored", Do: func(w *world.World) {
		claim := store.Get[*corev1.PersistentVolumeClaim](w.Store, naming.Claim(w.Cluster(), 0))
		delete(claim.Annotations, dbv1.AnnotationRestoring)
		claim.Annotations[dbv1.AnnotationRestored] = world.Bucket + "/old"
		w.Store.Put(claim)
	}}
}

// vanishedMembers deletes the StatefulSet with its pods.
func vanishedMembers() world.Step { return deleteStatefulSet("Background") }

// startEmpty asks for a member that starts with the volume that it has; "" takes the request back.
func startEmpty(request string) world.Step {
	return annotateCluster(fmt.Sprintf("the annotation rebuild is set to %q", request), dbv1.AnnotationRebuild, request)
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
	maps.Copy(dataMutants, lossMutants)
}
