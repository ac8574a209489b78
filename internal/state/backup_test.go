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

func TestABackupOfAnEarlierVersionHasItsIdentityAmongItsFacts(t *testing.T) {
	of := func(identity, fact string) Data {
		backup := &dbv1.DatabaseBackup{}
		backup.Status.Phase, backup.Status.Replicas = dbv1.BackupCompleted, 1
		backup.Status.Streams = []dbv1.BackupStream{
			{VolumeUID: "claim", Identity: identity, Facts: map[string]dbv1.FactValue{"system": "a"}}, {Ordinal: 1, Facts: map[string]dbv1.FactValue{"system": "b"}},
		}
		b := BackupOf(backup).Identified(backup.Status, fact)
		if b.Data[1].Identity != "" {
			t.Errorf("a member that the backup does not have is identified as %s", b.Data[1].Identity)
		}
		return b.Data[0]
	}
	for name, c := range map[string]struct{ got, want Data }{
		"by the fact that the engine names": {of("", "system"), Data{"claim", "a"}},
		"by its own record":                 {of("c", "system"), Data{"claim", "c"}},
		"not by another fact":               {of("", "rows"), Data{"claim", ""}},
		"not without a name of the fact":    {of("", ""), Data{"claim", ""}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}
