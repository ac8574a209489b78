/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Backups, verifications and deletions of data run as the ServiceAccount of the cluster.
func TestNoJobOfABackupStartsAsTheServiceAccountOfAnotherOwner(t *testing.T) {
	const problem = "ServiceAccount orders does not exist or was not created for DatabaseCluster orders"
	verifies := completed()
	verifies.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
	verifies.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, StartTime: &metav1.Time{Time: moment}}
	deleted := completed()
	deleted.DeletionTimestamp, deleted.Finalizers, deleted.Spec.DeletionPolicy = &metav1.Time{Time: moment}, []string{dbv1.Finalizer}, dbv1.BackupDelete
	for name, c := range map[string]struct {
		backup *dbv1.DatabaseBackup
		reason string
	}{
		"a backup that has not started": {asked(), dbv1.ReasonNameConflict},
		"the backup of a member":        {started(), dbv1.ReasonNameConflict},
		"a verification":                {verifies, ""},
		"the deletion of data":          {deleted, dbv1.ReasonDeletionError},
	} {
		t.Run(name, func(t *testing.T) {
			observed := idleWorld()
			observed.AccountProblem = problem
			p := For(c.backup, observed)
			if does[operation.Create](p) != nil || !strings.Contains(p.Why, problem+": set spec.serviceAccount.name of the DatabaseCluster") {
				t.Error(text(p))
			}
			if c.reason != "" && (p.Stalled == nil || p.Stalled.Reason != c.reason) {
				t.Errorf("%+v", p.Stalled)
			}
		})
	}
}

func TestABlockedDeletionOfDataIsCheckedAgain(t *testing.T) {
	deleted := completed()
	deleted.DeletionTimestamp, deleted.Finalizers, deleted.Spec.DeletionPolicy = &metav1.Time{Time: moment}, []string{dbv1.Finalizer}, dbv1.BackupDelete
	observed := idleWorld()
	observed.AccountProblem = "ServiceAccount orders does not exist"
	if p := For(deleted, observed); p.RequeueAfter == 0 {
		t.Error("ServiceAccounts are not watched, so no pass follows the correction")
	}
}
