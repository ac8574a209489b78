/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// rotationAction is the kind of the Jobs of rotations. Members that cannot be reached do not count as failed attempts.
var rotationAction = jobs.ActionKind{
	Component: dbv1.ComponentRotation, Retries: 3, Deadline: jobs.Within(time.Hour), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed, Connects: true,
}

// rotationJob runs the action credentials of the engine, at a stage of the rotation in progress. A key of the Secret that has the
// rotation in its name never changes, so the pod cannot get a value from before. The Job records the members for which it counts.
func rotationJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, credentials state.Credentials, stage state.Stage,
	members []state.Member) objects.Child {
	files := map[string]string{}
	for _, key := range declared.Spec.SecretKeys {
		next, previous := state.RotatedKey(key.Name, credentials.Rotation), key.Name
		if credentials.InForce() {
			previous = state.PreviousKey(key.Name, credentials.Rotation)
		}
		if _, rotates := credentials.Values[next]; !rotates { // the engine has declared the key since
			files[key.Name] = key.Name
			continue
		}
		files[key.Name] = next
		if stage == state.StageRotate {
			files[key.Name+".previous"] = previous
		}
	}
	ready := make([]string, 0, len(members))
	for _, m := range members {
		ready = append(ready, m.Readiness())
	}
	job := jobs.Build(cluster, jobs.Spec{
		Name:        naming.RotationJob(cluster.Name, credentials.Rotation, string(stage)),
		Kind:        rotationAction,
		Owner:       objects.OwnedBy(cluster),
		Command:     declared.Spec.Actions.Credentials.Command,
		SecretItems: files,
	})
	return job.Set(strings.Join(ready, " "), "metadata", "annotations", dbv1.AnnotationMembers)
}
