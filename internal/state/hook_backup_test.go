/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestABackupIsStuckWhileItsConditionStalledIsTrue(t *testing.T) {
	for status, want := range map[metav1.ConditionStatus]bool{metav1.ConditionTrue: true, metav1.ConditionFalse: false} {
		backup := &dbv1.DatabaseBackup{}
		backup.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionStalled, Status: status}}
		if got := HookBackupOf(backup).Stuck; got != want {
			t.Errorf("%s: stuck %t", status, got)
		}
	}
	if HookBackupOf(&dbv1.DatabaseBackup{}).Stuck {
		t.Error("a backup that nobody has looked at yet is stuck")
	}
}
