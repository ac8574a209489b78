/*
SPDX-License-Identifier: Apache-2.0
*/

package state_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestTheLastWriteOfAnObjectIsThatOfAnyClient(t *testing.T) {
	first := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	last := metav1.NewTime(first.Add(time.Minute))
	for name, c := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    time.Time
	}{
		"two clients":        {[]metav1.ManagedFieldsEntry{{Manager: "b", Time: &last}, {Manager: "a", Time: &first}}, last.Time},
		"one without a time": {[]metav1.ManagedFieldsEntry{{Manager: "a", Time: &first}, {Manager: "b"}}, first.Time},
		"no managed fields":  {nil, time.Time{}},
	} {
		if got := state.WrittenAt(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: c.entries}}); !got.Equal(c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
