/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const nameCredentials = "Set credentialsSecretName of the destination, or credentialSource: WorkloadIdentity"

// identityOf returns the credentials for a bucket. There is no default: it uses a Secret, or the pod's workload
// identity if --workload-identity is set. It never uses the identity of the node or files in the image.
func identityOf(options protocol.Store) ([]func(*config.LoadOptions) error, error) {
	load := []func(*config.LoadOptions) error{
		config.WithEC2IMDSClientEnableState(imds.ClientDisabled),
		config.WithSharedConfigFiles([]string{}), config.WithSharedCredentialsFiles([]string{}),
	}
	switch {
	case options.Credentials != "":
		provider, err := credentialsOf(options.Credentials)
		if err != nil {
			return nil, err
		}
		return append(load, config.WithCredentialsProvider(provider)), nil
	case options.WorkloadIdentity:
		return load, nil
	default:
		return nil, failf(protocol.CredentialsRefused, "There are no credentials for this bucket. %s.", nameCredentials)
	}
}

// identify returns the credential values that must not appear in logs and results.
func identify(ctx context.Context, options protocol.Store, settings aws.Config, store *store) ([]string, error) {
	identity, err := settings.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, failf(protocol.CredentialsRefused,
			"The pod has no workload identity for %s: %s. Give its ServiceAccount one, or set credentialsSecretName of the destination.",
			store.URL(""), plainCause("the identity service", err))
	}
	if options.Credentials == "" && identity.Source == config.CredentialsSourceName {
		return nil, failf(protocol.CredentialsRefused, "The pod's environment has AWS_ACCESS_KEY_ID, which is not a workload identity. Remove "+
			"it, or set credentialsSecretName of the destination to a Secret with it.")
	}
	return []string{identity.SecretAccessKey, identity.SessionToken, identity.AccessKeyID}, nil
}

// credentialsOf reads the files of a mounted Secret.
func credentialsOf(folder string) (aws.CredentialsProvider, error) {
	values := map[string]string{protocol.AccessKeyFile: "", protocol.SecretKeyFile: "", protocol.SessionTokenFile: ""}
	for key := range values {
		content, err := os.ReadFile(filepath.Join(folder, key)) //nolint:gosec // the operator names the folder
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failf(protocol.CredentialsRefused, "The credentials cannot be read: %v. Allow the pod's user to read the Secret.", err)
		}
		values[key] = strings.TrimSpace(string(content))
	}
	for _, key := range []string{protocol.AccessKeyFile, protocol.SecretKeyFile} {
		if values[key] == "" {
			return nil, failf(protocol.CredentialsRefused, "The Secret with the credentials has no %s. Add this key to the Secret.", key)
		}
	}
	return credentials.NewStaticCredentialsProvider(values[protocol.AccessKeyFile], values[protocol.SecretKeyFile],
		values[protocol.SessionTokenFile]), nil
}
