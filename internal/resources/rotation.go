/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RotationJob runs the action credentials of the engine, at the stage of the rotation in progress. A key of the Secret that ends
// with the rotation never changes, so the pod cannot get a value from before.
func RotationJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, credentials state.Credentials) Child {
	files := map[string]string{}
	for _, key := range declared.Spec.SecretKeys {
		files[key.Name] = state.RotatedKey(key.Name, credentials.Rotation)
		if !credentials.InForce() {
			files[key.Name+".previous"] = key.Name
		}
	}
	return ActionJob(cluster, Action{
		Name:        naming.RotationJob(cluster.Name, credentials.Rotation, credentials.Stage()),
		Component:   dbv1.ComponentRotation,
		Owner:       ownedBy(cluster),
		Command:     declared.Spec.Actions.Credentials.Command,
		SecretItems: files,
	})
}
