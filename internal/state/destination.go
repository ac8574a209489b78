/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// DestinationSecret is a Secret that a backup destination names, with the required keys.
type DestinationSecret struct {
	Name, Field string
	Keys        []string
}

// SecretsOf returns the Secrets that a destination names.
func SecretsOf(at *dbv1.BackupDestination) []DestinationSecret {
	var all []DestinationSecret
	if name := at.CredentialsSecretName; name != "" {
		all = append(all, DestinationSecret{name, "credentialsSecretName", []string{protocol.AccessKeyFile, protocol.SecretKeyFile}})
	}
	if name := at.EncryptionSecretName; name != "" {
		all = append(all, DestinationSecret{name, "encryptionSecretName", []string{protocol.IdentityFile}})
	}
	return all
}

// NamesNoCredentials reports whether a destination in S3 has no credentials. Objects that are older than the validation rule may
// exist. The operator never uses credentials from the pod's environment without a request.
func NamesNoCredentials(at *dbv1.BackupDestination) bool {
	return strings.HasPrefix(at.URL, "s3://") && at.CredentialsSecretName == "" && at.CredentialSource == ""
}
