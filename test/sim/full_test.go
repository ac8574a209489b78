/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"k8s.io/apimachinery/pkg/api/meta"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// refuses checks that the condition Available explains why no client can write.
func refuses(cause string) step {
	return step{what: "Available names the cause", do: func(w *world) {
		available := meta.FindStatusCondition(w.cluster().Status.Conditions, dbv1.ConditionAvailable)
		if available.Reason != dbv1.ReasonWritesRefused || available.Message != cause {
			w.breaks("Available has the reason %s: %s", available.Reason, available.Message)
		}
	}}
}

// fullSequences test members without space to write.
var fullSequences = []sequence{
	tell("pair-full",
		createPair(syncEngine), fillVolume("orders-0"), refuses("pod orders-0 accepts no writes: the data volume is full. Raise spec.storage.size."), grow("2Gi"),
	),
	tell("voters-full",
		createVoters(), fillVolume("orders-1"), refuses("pod orders-0 accepts no writes: the data volume is full. Raise spec.storage.size."), grow("2Gi"),
	),
}
