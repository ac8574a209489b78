/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	corev1 "k8s.io/api/core/v1"
)

// withModification adds the progress of a change of the volume's attributes.
func (v Volume) withModification(claim *corev1.PersistentVolumeClaim) Volume {
	v.Class, v.CurrentClass = textOf(claim.Spec.VolumeAttributesClassName), textOf(claim.Status.CurrentVolumeAttributesClassName)
	change := claim.Status.ModifyVolumeStatus
	if change == nil || change.TargetVolumeAttributesClassName != v.Class {
		return v
	}
	v.Unmodifiable = change.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible
	for _, c := range claim.Status.Conditions {
		if c.Type == corev1.PersistentVolumeClaimVolumeModifyVolumeError && c.Status == corev1.ConditionTrue {
			v.Modifying = c.Message
		}
	}
	if v.Modifying == "" && change.Status == corev1.PersistentVolumeClaimModifyVolumePending {
		v.Modifying = "the VolumeAttributesClass does not exist, or belongs to another driver"
	}
	return v
}

func textOf(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}
