/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTheProgressOfAModificationComesFromTheClaim(t *testing.T) {
	gold, silver := "gold", "silver"
	failing := []corev1.PersistentVolumeClaimCondition{
		{Type: corev1.PersistentVolumeClaimVolumeModifyVolumeError, Status: corev1.ConditionTrue, Message: "too many IOPS"},
	}
	of := func(target string, status corev1.PersistentVolumeClaimModifyVolumeStatus) *corev1.ModifyVolumeStatus {
		return &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: target, Status: status}
	}
	cases := map[string]struct {
		status corev1.PersistentVolumeClaimStatus
		want   string
	}{
		"not begun": {corev1.PersistentVolumeClaimStatus{}, "gold/ false "},
		"done":      {corev1.PersistentVolumeClaimStatus{CurrentVolumeAttributesClassName: &gold}, "gold/gold false "},
		"without its class": {corev1.PersistentVolumeClaimStatus{
			CurrentVolumeAttributesClassName: &silver, ModifyVolumeStatus: of("gold", corev1.PersistentVolumeClaimModifyVolumePending),
		}, "gold/silver false the VolumeAttributesClass does not exist, or belongs to another driver"},
		"in progress": {corev1.PersistentVolumeClaimStatus{
			CurrentVolumeAttributesClassName: &silver, ModifyVolumeStatus: of("gold", corev1.PersistentVolumeClaimModifyVolumeInProgress),
		}, "gold/silver false "},
		"impossible": {corev1.PersistentVolumeClaimStatus{
			CurrentVolumeAttributesClassName: &silver, ModifyVolumeStatus: of("gold", corev1.PersistentVolumeClaimModifyVolumeInfeasible), Conditions: failing,
		}, "gold/silver true too many IOPS"},
		"impossible for another class before": {corev1.PersistentVolumeClaimStatus{
			CurrentVolumeAttributesClassName: &silver, ModifyVolumeStatus: of("bronze", corev1.PersistentVolumeClaimModifyVolumeInfeasible), Conditions: failing,
		}, "gold/silver false "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			claim := &corev1.PersistentVolumeClaim{Status: c.status}
			claim.Spec.VolumeAttributesClassName = &gold
			v := VolumeOf(claim, 0)
			if got := fmt.Sprintf("%s/%s %v %s", v.Class, v.CurrentClass, v.Unmodifiable, v.Modifying); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestThePlaceOfAMemberComesFromItsPod(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "worker-1"}}
	pod.Labels = map[string]string{corev1.LabelTopologyZone: "a"}
	if m := MemberOf(pod, 0); m.Node != "worker-1" || m.Zone != "a" {
		t.Errorf("%+v", m)
	}
}
