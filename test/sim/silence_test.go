/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// A database that no longer responds looks ready until its probe has failed often enough, or until Kubernetes notices that its node is lost. Meanwhile,
// the others continue without it.

var silenceSequences = []world.Story{
	world.Tell("voters-final-backup-silent",
		createVoters(final), soon(1, remove()), soon(1, world.Silence("orders-0")), soon(4, world.Silence("orders-1")), world.Thaw("orders-0"), world.Thaw("orders-1"),
	),
	world.Tell("voters-shutdown-then-final-backup", createVoters(hook("stop", dbv1.HookShutdown), final), remove()),
	world.Tell("pair-without-lock-final-backup-silent",
		createPair(world.TuneEngine, final), soon(1, world.Silence("orders-0")), soon(6, remove()), world.Thaw("orders-0"), skipHooks(), told(createPair(world.TuneEngine)), handOverTo("orders-2"),
	),
	world.Tell("pair-without-lock-final-backup-of-one",
		createPair(world.TuneEngine, final), scale(1), together(deleteClaim("data-orders-1"), deleteClaim("data-orders-2")), remove(),
	),
}

// silenceMutants are mistakes about readiness that is older than the stop of others.
var silenceMutants = map[string]mutant{
	"the readiness of the voters that are left counts at once": {
		claimsWith(func(_ context.Context, _ client.WithWatch, claim *corev1.PersistentVolumeClaim) {
			if process, _, recorded := strings.Cut(claim.Annotations[dbv1.AnnotationNeededSince], "+"); recorded {
				claim.Annotations[dbv1.AnnotationNeededSince] = process + "+-1h"
			}
		}),
		"voters-final-backup-silent", "of stopped members is complete, but lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, silenceMutants) }
