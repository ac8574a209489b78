/*
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// modifications are the claims that need another VolumeAttributesClass. A claim that is being resized in this pass follows in the next one,
// because each write changes its version.
func modifications(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	class := s.Cluster.Spec.Storage.VolumeAttributesClassName
	for _, v := range state.Only(s.InUse(), s.OtherClass) {
		if !s.OtherSize(v) {
			what := fmt.Sprintf("PersistentVolumeClaim %s to VolumeAttributesClass %s", v.Claim, class)
			all = append(all, setting(s, v, what, class, "spec", "volumeAttributesClassName"))
		}
	}
	return all
}

// awaitAttributes waits until the volumes have their attributes.
func awaitAttributes(s *situation.Situation, all []operation.Patch) phase.Outcome {
	text := modifying(s)
	if len(all) > 0 {
		text = "modifying " + operation.Describe(all)
	}
	if text == "" {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonModifyingStorage, text)
}

// modifying describes the volumes that do not have the attributes of the spec yet, with the cause; "" if all have them.
func modifying(s *situation.Situation) string {
	var texts []string
	for _, v := range state.Only(s.InUse(), s.OtherAttributes) {
		cause := "the CSI driver has not modified the volume yet"
		if v.Modifying != "" {
			cause = v.Modifying
		}
		texts = append(texts, fmt.Sprintf("PersistentVolumeClaim %s does not have the attributes of VolumeAttributesClass %s: %s",
			v.Claim, s.Cluster.Spec.Storage.VolumeAttributesClassName, cause))
	}
	return strings.Join(texts, "; ")
}

// unmodifiable is the stall of a volume that cannot get its attributes.
func unmodifiable(s *situation.Situation) *situation.Stall {
	if s.NoAttributesClasses {
		return &situation.Stall{Reason: dbv1.ReasonModifyInfeasible, Message: fmt.Sprintf(
			"the API server does not serve VolumeAttributesClasses, so spec.storage.volumeAttributesClassName %s has no effect. Remove it, or use "+
				"Kubernetes 1.34 or newer",
			s.Declared.Spec.Storage.VolumeAttributesClassName)}
	}
	for _, v := range state.Only(s.InUse(), s.OtherAttributes) {
		if v.Unmodifiable {
			return &situation.Stall{Reason: dbv1.ReasonModifyInfeasible, Message: fmt.Sprintf(
				"PersistentVolumeClaim %s cannot get the attributes of VolumeAttributesClass %s: %s. Set spec.storage.volumeAttributesClassName to a "+
					"class that its CSI driver accepts",
				v.Claim, v.Class, v.Modifying)}
		}
	}
	return nil
}
