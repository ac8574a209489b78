/*
SPDX-License-Identifier: Apache-2.0
*/

package named

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestNoVolumeIsMountedThatTheStatefulSetGivesToAMember(t *testing.T) {
	for _, c := range []struct{ start, replicas, want int32 }{{0, 0, 0}, {0, 3, 3}, {2, 0, 0}, {2, 1, 3}} {
		set := &appsv1.StatefulSet{}
		set.Spec.Replicas, set.Spec.Ordinals = &c.replicas, &appsv1.StatefulSetOrdinals{Start: c.start}
		if got := endOrdinal(set); got != c.want {
			t.Errorf("members from %d: %d, and the first ordinal without one is %d, want %d", c.start, c.replicas, got, c.want)
		}
	}
}
