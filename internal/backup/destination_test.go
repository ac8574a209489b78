/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestAMissingSecretOfADestinationIsReportedWithFieldAndKey(t *testing.T) {
	at := &dbv1.BackupDestination{URL: "s3://backups", CredentialsSecretName: "bucket", EncryptionSecretName: "age"}
	var said []string
	for _, named := range state.SecretsOf(at) {
		said = append(said, missingKeys(named, false, nil), missingKeys(named, true, &corev1.Secret{}))
	}
	for i, want := range []string{
		"Secret bucket in credentialsSecretName of the destination does not exist", "lacks the key AWS_ACCESS_KEY_ID",
		"Secret age in encryptionSecretName of the destination does not exist", "lacks the key identity",
	} {
		if !strings.Contains(said[i], want) {
			t.Errorf("%q does not contain %q", said[i], want)
		}
	}
	if got := missingKeys(state.SecretsOf(at)[1], true, &corev1.Secret{Data: map[string][]byte{"identity": []byte("k")}}); got != "" {
		t.Error(got)
	}
}
