/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Recreate re-creates the StatefulSet if its volumeClaimTemplates have another size or VolumeAttributesClass, because they are
// immutable. Its pods continue to run. Existing claims are changed first: if the API server refuses the change for one of them, or
// it is infeasible, the next member's claim must not request it. The operator does not re-create the StatefulSet while the engine makes
// the spec unusable, or while the last primary starts alone.
func Recreate(s *situation.Situation) phase.Outcome {
	if !s.OtherClaims() || s.UnsettledClaims() || s.Start() > 0 || s.Incompatible != nil {
		return phase.Over
	}
	storage := s.Cluster.Spec.Storage
	volumes := storage.Size.String()
	if storage.VolumeAttributesClassName != "" {
		volumes += " with VolumeAttributesClass " + storage.VolumeAttributesClassName
	}
	return phase.Do(dbv1.ReasonResizingStorage, fmt.Sprintf(
		"re-creating StatefulSet %s for volumes of %s; its pods continue to run", s.StatefulSet.Name, volumes), recreate(s))
}

func recreate(s *situation.Situation) operation.Recreate {
	set := s.StatefulSet
	revision, _ := s.Revision()
	return operation.Recreate{
		Work: operation.Work{
			Is: operation.Last, Text: "delete the StatefulSet and orphan its pods", Event: operation.Normal("StatefulSetRecreated", "Recreate", ""),
		},
		StatefulSet: operation.TargetOf(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), set),
		Revision:    revision, RenderedFrom: set.Annotations[dbv1.AnnotationRenderedFrom],
	}
}
