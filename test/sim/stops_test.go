/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// stopSequences test that a record about a stop counts only for that stop.
var stopSequences = []world.Story{
	world.Tell("voters-scaled-by-hand",
		createVoters(final), hibernate(true), together(world.Away(true), scaleByHand(3)), world.Freeze("orders-0"), scaleByHand(0), world.Away(false), remove(), skipHooks(),
	),
	world.Tell("voters-scaled-by-hand-foreground",
		createVoters(final), hibernate(true), together(world.Away(true), scaleByHand(3)), world.Freeze("orders-0"), removeForeground(), world.Away(false), skipHooks(),
	),
	world.Tell("pair-without-lock-scaled-by-hand",
		createPair(world.TuneEngine, final), scale(1), together(world.Away(true), scaleByHand(3)), world.Freeze("orders-0"), removeForeground(), world.Away(false), skipHooks(),
	),
	world.Tell("voters-final-backup-of-five", createVoters(final), scale(5), remove()),
	world.Tell("voters-final-backup-during-scale-in",
		createVoters(final), scale(5), soon(14, scale(3)), soon(1, remove()), world.Freeze("orders-0"), world.Thaw("orders-0"),
	),
}

// stopMutants are mistakes about the stop to which a record belongs.
var stopMutants = map[string]mutant{
	"the record of a stop counts for each later one": {
		claimsWith(func(ctx context.Context, c client.WithWatch, claim *corev1.PersistentVolumeClaim) {
			set := &appsv1.StatefulSet{}
			if c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, set) == nil && claim.Annotations[dbv1.AnnotationPrimary] != "" {
				claim.Annotations[dbv1.AnnotationPrimaryTerm] = state.ExtentOf(set).Term()
			}
		}),
		"voters-scaled-by-hand", "of stopped members is complete, but lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, stopMutants) }
