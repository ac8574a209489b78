/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTheVersionIsTheFirstLineThatTheInitContainerReports(t *testing.T) {
	ended := func(message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}
	}
	cases := map[string]struct {
		status corev1.ContainerStatus
		want   string
	}{
		"it ended":                        {corev1.ContainerStatus{Name: "dbc-version", State: ended("17.5\n")}, "17.5"},
		"it runs again after a reboot":    {corev1.ContainerStatus{Name: "dbc-version", LastTerminationState: ended("17.5\n")}, "17.5"},
		"it has not ended":                {corev1.ContainerStatus{Name: "dbc-version"}, ""},
		"it printed nothing":              {corev1.ContainerStatus{Name: "dbc-version", State: ended("")}, ""},
		"it printed more than a line":     {corev1.ContainerStatus{Name: "dbc-version", State: ended("\n17.5 \nwith LLVM")}, "17.5"},
		"it printed more than fits":       {corev1.ContainerStatus{Name: "dbc-version", State: ended(strings.Repeat("ü", 40))}, strings.Repeat("ü", 31)},
		"another init container reported": {corev1.ContainerStatus{Name: "warm-up", State: ended("17.5")}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{c.status}}}
			if got := MemberOf(pod, 0).Reports; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
