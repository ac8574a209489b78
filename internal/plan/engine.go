/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// engineKnown tells whether all is known that the spec leaves to its engine.
func engineKnown(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return cluster.Spec.Engine == "" || observed.Engine != nil
}

// misfit is why the spec and its engine do not fit each other. What a cluster starts with matters until there are
// members.
func misfit(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if observed.EngineUnreadable != "" {
		return &Stall{dbv1.ReasonEngineMissing, fmt.Sprintf(
			"DatabaseEngine %s, which spec.engine names, cannot be read: %s; let the operator get databaseengines",
			cluster.Spec.Engine, observed.EngineUnreadable)}
	}
	asked := *cluster
	hasMembers := observed.StatefulSet != nil || observed.Former != nil
	if hasMembers {
		asked.Spec.Bootstrap = nil
	}
	if reason, message := engine.Refusal(&asked, observed.Engine, hasMembers); reason != "" {
		return &Stall{reason, message}
	}
	for _, r := range observed.References {
		if r.Kind != "Secret" || r.Name != cluster.Spec.SecretName || !r.Found {
			continue
		}
		if message := engine.KeyProblem(cluster, observed.Engine, r.Keys, r.Empty); message != "" {
			return &Stall{dbv1.ReasonSecretIncomplete, message}
		}
	}
	return nil
}
