/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestAMemberThatDoesNotRespondIsNotReadyAfterTheTimeOfItsProbe(t *testing.T) {
	for name, c := range map[string]struct {
		probe *corev1.Probe
		want  time.Duration
	}{
		"without a probe it stays ready as far as the kubelet knows":            {nil, Never},
		"each period counts until the threshold, and the last probe has to end": {&corev1.Probe{PeriodSeconds: 3, FailureThreshold: 2, TimeoutSeconds: 2}, 8 * time.Second},
		"a probe that takes longer than its period delays the next one":         {&corev1.Probe{PeriodSeconds: 3, FailureThreshold: 2, TimeoutSeconds: 5}, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "helper", ReadinessProbe: &corev1.Probe{PeriodSeconds: 600, FailureThreshold: 1}}, {Name: "database", ReadinessProbe: c.probe}}}}
			if got := MemberOf(pod, 0).UnreadyAfter; got != c.want {
				t.Errorf("not ready after %v, want %v", got, c.want)
			}
		})
	}
}
