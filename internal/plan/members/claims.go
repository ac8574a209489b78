/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Containing records other contents on a claim.
func Containing(s *situation.Situation, v state.Volume, contents state.Contents) operation.Patch {
	before, after := operation.Claim(v).In(s.Cluster.Namespace), operation.Claim(v).In(s.Cluster.Namespace)
	before.SetLabels(v.Labels())
	before.SetAnnotations(v.Annotations())
	after.SetLabels(contents.Labels())
	after.SetAnnotations(contents.Annotations())
	return operation.Patch{Before: before, After: after, Text: "PersistentVolumeClaim " + v.Claim}
}
