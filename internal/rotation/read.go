/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"context"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// readRotation reads the Job of the rotation in progress.
func readRotation(ctx context.Context, o *subject.ClusterReading) {
	if o.Credentials.Rotation == "" || !o.Credentials.GeneratedFor(o.Cluster.UID) {
		return
	}
	stage := o.Credentials.Stage(o.Cluster.Spec.Credentials.Rotation, o.At)
	if job, seen, found := o.JobNamed(ctx, rotationAction, naming.RotationJob(o.Cluster.Name, o.Credentials.Rotation, string(stage))); found {
		o.Rotation, o.RotationStarted, o.RotatedMembers = seen, true, strings.Fields(job.Annotations[dbv1.AnnotationMembers])
	}
}
