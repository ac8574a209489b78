/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "cmp"

// Store says how a location is reached.
type Store struct {
	Endpoint         string `flag:"endpoint" usage:"the <URL> of an S3 service that is not Amazon's"`
	Region           string `flag:"region" usage:"the region of the bucket (default us-east-1)"`
	WorkloadIdentity bool   `flag:"workload-identity" usage:"use the identity that the platform gives the pod's ServiceAccount, instead of --credentials"`
	SSE              string `flag:"server-side-encryption" usage:"what the S3 service is asked to encrypt with: AES256 or aws:kms"`
	KMSKeyID         string `flag:"kms-key-id" usage:"the <key> for --server-side-encryption aws:kms (default the service's own)"`
	// What is secret is in files.
	Credentials string `flag:"credentials" usage:"the <folder> with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN and ca.crt where they are needed"`
	Encryption  string `flag:"encryption" usage:"the <folder> with the file identity, the secret keys of age: backups are encrypted for the first"`
	Root        string `flag:"root" usage:"the <folder> that file:// locations are below"`
}

// DefaultRegion is that of a bucket for which none is given.
const DefaultRegion = "us-east-1"

// The files in the folder of the credentials. The last two may be missing.
const (
	AccessKeyFile    = "AWS_ACCESS_KEY_ID"
	SecretKeyFile    = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name of a file
	SessionTokenFile = "AWS_SESSION_TOKEN"     //nolint:gosec // the name of a file
	AuthoritiesFile  = "ca.crt"
)

// IdentityFile is the file in the folder of the encryption. It holds the secret keys of age.
const IdentityFile = "identity"

// check refuses a location that is none, and flags that do not go with it.
func (s *Store) check(url string, ofOneBackup bool) error {
	place, err := ParseLocation(url)
	return cmp.Or(err, checkEndpoint(s.Endpoint), first(
		rule{place.Scheme == "file" && s.Root == "", "--root must be given: the folder that file:// locations are below"},
		rule{s.Credentials != "" && s.WorkloadIdentity, "--credentials and --workload-identity exclude each other"},
		rule{ofOneBackup && place.Path == "", "the location must have a path, which is the folder of one backup"},
	))
}
