/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestARequestThatIsTooLongForTheStatusIsAnswered(t *testing.T) {
	for _, annotation := range []string{"please", strings.Repeat("x", 1000), strings.Repeat("ü", 200)} {
		backup := &dbv1.DatabaseBackup{}
		backup.Status.Phase, backup.Annotations = dbv1.BackupCompleted, map[string]string{dbv1.AnnotationVerify: annotation}
		asks := BackupOf(backup)
		if !asks.Verifying() || len(asks.Asked) > 253 || !strings.HasPrefix(annotation, asks.Asked) {
			t.Errorf("%q", asks.Asked)
		}
		backup.Status.Verification = &dbv1.BackupVerification{Request: asks.Asked, Phase: dbv1.VerificationSucceeded}
		if BackupOf(backup).Verifying() {
			t.Errorf("%q is never answered", asks.Asked)
		}
	}
}
