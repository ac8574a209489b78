/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Modifications change the VolumeAttributesClass of claims. A volume that cannot be modified prevents no other operation.
func Modifications(s *situation.Situation) operation.List {
	return operation.Changes(operation.Work{
		Is: operation.Properties{LiveRead: true, Independent: true}, Text: "modify ",
		Event: operation.Normal("VolumeModifying", "Modify", "modifying "), Listed: ", ",
	}, modifications(s))
}

// modifications are the claims that need another VolumeAttributesClass, in any state of the members. Kubernetes refuses to change
// a claim that is not bound. A claim that is being resized in this pass follows in the next one, because each write changes its
// version.
func modifications(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	class, resizes := s.Cluster.Spec.Storage.VolumeAttributesClassName, resizes(s)
	for _, v := range unlike(s, func(v state.Volume) string { return v.Class }) {
		resized := slices.ContainsFunc(resizes, func(p operation.Patch) bool { return p.Before.GetName() == v.Claim })
		if !v.Terminating && !resized {
			what := fmt.Sprintf("PersistentVolumeClaim %s to VolumeAttributesClass %s", v.Claim, class)
			all = append(all, setting(s, v, what, class, "spec", "volumeAttributesClassName"))
		}
	}
	return all
}

// unlike returns the bound volumes that have another class than the spec names; none if it names no class.
func unlike(s *situation.Situation, class func(state.Volume) string) []state.Volume {
	wanted := s.Cluster.Spec.Storage.VolumeAttributesClassName
	return state.Only(s.InUse(), func(v state.Volume) bool {
		return wanted != "" && !v.Capacity.IsZero() && class(v) != wanted
	})
}

// AwaitAttributes waits until the volumes have their attributes.
func AwaitAttributes(s *situation.Situation) phase.Outcome {
	text := modifying(s)
	if all := modifications(s); len(all) > 0 {
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
	for _, v := range unlike(s, func(v state.Volume) string { return v.CurrentClass }) {
		cause := "the CSI driver has not modified the volume yet"
		if v.Modifying != "" {
			cause = v.Modifying
		}
		texts = append(texts, fmt.Sprintf("PersistentVolumeClaim %s does not have the attributes of VolumeAttributesClass %s: %s",
			v.Claim, s.Cluster.Spec.Storage.VolumeAttributesClassName, cause))
	}
	return strings.Join(texts, "; ")
}

// Unmodifiable is the stall of a volume that cannot get its attributes.
func Unmodifiable(s *situation.Situation) *situation.Stall {
	if s.NoAttributesClasses {
		return &situation.Stall{Reason: dbv1.ReasonModifyInfeasible, Message: fmt.Sprintf(
			"the API server does not serve VolumeAttributesClasses, so spec.storage.volumeAttributesClassName %s has no effect. Remove it, or use Kubernetes 1.34 or newer",
			s.Declared.Spec.Storage.VolumeAttributesClassName)}
	}
	for _, v := range unlike(s, func(v state.Volume) string { return v.CurrentClass }) {
		if v.Unmodifiable {
			return &situation.Stall{Reason: dbv1.ReasonModifyInfeasible, Message: fmt.Sprintf(
				"PersistentVolumeClaim %s cannot get the attributes of VolumeAttributesClass %s: %s. Set spec.storage.volumeAttributesClassName to a class that its CSI driver accepts",
				v.Claim, v.Class, v.Modifying)}
		}
	}
	return nil
}
