/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// OfEngine returns the status of an engine: whether clusters can use it. Conditions of other controllers do not change.
func OfEngine(declared *dbv1.DatabaseEngine, now metav1.Time) dbv1.DatabaseEngineStatus {
	status := declared.Status.DeepCopy()
	accepted := metav1.Condition{
		Type: dbv1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: dbv1.ReasonAccepted,
		Message: "clusters can use this engine", ObservedGeneration: declared.Generation, LastTransitionTime: now,
	}
	if text := engine.Declared(declared, engine.Actions...); text != "" {
		accepted.Status, accepted.Reason, accepted.Message = metav1.ConditionFalse, dbv1.ReasonInvalidEngine, truncate(text)
	}
	meta.SetStatusCondition(&status.Conditions, accepted)
	status.ObservedGeneration = declared.Generation
	return *status
}
