/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

// Store says how a location is reached. What is secret is in files.
type Store struct {
	Endpoint         string // of S3, where it is not Amazon's
	Region           string
	Credentials      string // a folder with the files of a Secret
	WorkloadIdentity bool   // of the pod, instead of a Secret
	Encryption       string // a folder with the file IdentityFile
	SSE, KMSKeyID    string // what an S3 service is asked to encrypt with
	Root             string // the folder that file:// locations are below
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

func (s *Store) options() []option {
	return []option{
		text(&s.Endpoint, "endpoint", "", "the `URL` of an S3 service that is not Amazon's"),
		text(&s.Region, "region", "", "the region of the bucket (default "+DefaultRegion+")"),
		toggle(&s.WorkloadIdentity, "workload-identity", "use the identity that the platform gives the pod's ServiceAccount, instead of --credentials"),
		text(&s.SSE, "server-side-encryption", "", "what the S3 service is asked to encrypt with: AES256 or aws:kms"),
		text(&s.KMSKeyID, "kms-key-id", "", "the `key` for --server-side-encryption aws:kms (default the service's own)"),
		text(&s.Credentials, "credentials", "", "the `folder` with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN and ca.crt where they are needed"),
		text(&s.Encryption, "encryption", "", "the `folder` with the file identity, the secret keys of age: backups are encrypted for the first"),
		text(&s.Root, "root", "", "the `folder` that file:// locations are below"),
	}
}

// at is the flag of a location. It is checked after the parsing: the library would tell the whole value, and there might
// be a password in it.
func at(field *string, name string) option {
	return text(field, name, "", "the `URL` of the backup: s3://bucket/path or file:///path")
}

// check refuses a location that is none, and flags that do not go with it.
func (s *Store) check(url string, ofOneBackup bool) error {
	place, err := ParseLocation(url)
	if err != nil {
		return err
	}
	if s.Endpoint != "" {
		if err := checkEndpoint(s.Endpoint); err != nil {
			return err
		}
	}
	return first(
		rule{place.Scheme == "file" && s.Root == "", "--root must be given: the folder that file:// locations are below"},
		rule{s.Credentials != "" && s.WorkloadIdentity, "--credentials and --workload-identity exclude each other"},
		rule{ofOneBackup && place.Path == "", "the location must have a path, which is the folder of one backup"},
	)
}
