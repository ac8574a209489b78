/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "cmp"

// Store describes the access to a location.
type Store struct {
	Endpoint         string `flag:"endpoint" usage:"the <URL> of an S3 service that is not Amazon's"`
	Region           string `flag:"region" usage:"the region of the bucket (default us-east-1)"`
	WorkloadIdentity bool   `flag:"workload-identity" usage:"use the workload identity of the pod's ServiceAccount instead of --credentials"`
	SSE              string `flag:"server-side-encryption" usage:"the server-side encryption of the S3 service: AES256 or aws:kms"`
	KMSKeyID         string `flag:"kms-key-id" usage:"the <key> for --server-side-encryption aws:kms (default the key of the service)"`
	// Secrets are in files, not in flags.
	Credentials string `flag:"credentials" usage:"the <folder> with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and optionally AWS_SESSION_TOKEN and ca.crt"`
	Encryption  string `flag:"encryption" usage:"the <folder> with the file identity, which has age secret keys: the first key encrypts backups"`
	Root        string `flag:"root" usage:"the root <folder> of file:// locations"`
}

// DefaultRegion is the region of a bucket if --region is not set.
const DefaultRegion = "us-east-1"

// The files in the credentials folder. The last two are optional.
const (
	AccessKeyFile    = "AWS_ACCESS_KEY_ID"
	SecretKeyFile    = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name of a file
	SessionTokenFile = "AWS_SESSION_TOKEN"     //nolint:gosec // the name of a file
	AuthoritiesFile  = "ca.crt"
)

// IdentityFile is the file with the age secret keys in the encryption folder.
const IdentityFile = "identity"

// check rejects an invalid location, and flags that do not match its scheme.
func (s *Store) check(url string, ofOneBackup bool) error {
	place, err := ParseLocation(url)
	return cmp.Or(err, checkEndpoint(s.Endpoint), first(
		rule{place.Scheme == "file" && s.Root == "", "--root is required for file:// locations"},
		rule{s.Credentials != "" && s.WorkloadIdentity, "--credentials and --workload-identity are mutually exclusive"},
		rule{ofOneBackup && place.Path == "", "the location must have a path: the folder of one backup"},
	))
}
