/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	"gocloud.dev/blob/s3blob"
	_ "golang.org/x/crypto/x509roots/fallback" // images of databases have no certificate authorities

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	attempts      = 5
	dialTimeout   = 10 * time.Second
	headerTimeout = 2 * time.Minute
)

func openBucket(ctx context.Context, place protocol.Location, options protocol.Store, attempts int) (*store, error) {
	store := &store{Location: place, endpoint: options.Endpoint, workload: options.WorkloadIdentity}
	settings, err := awsConfig(ctx, options, attempts)
	if err != nil {
		return nil, err
	}
	if store.secrets, err = identify(ctx, options, settings, store); err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(settings, func(o *s3.Options) {
		o.HTTPClient = finishedParts{o.HTTPClient}
		if options.Endpoint != "" {
			o.BaseEndpoint, o.UsePathStyle = &options.Endpoint, true
			o.APIOptions = append(o.APIOptions, signPayload)
		}
	})
	store.uploads = &uploads{client: client, bucket: place.Bucket, sse: types.ServerSideEncryption(options.SSE)}
	if options.KMSKeyID != "" {
		store.uploads.key = &options.KMSKeyID
	}
	bucket, err := s3blob.OpenBucket(ctx, client, place.Bucket, &s3blob.Options{
		RequestChecksumCalculation: settings.RequestChecksumCalculation, EncryptionType: store.uploads.sse, KMSEncryptionID: options.KMSKeyID,
	})
	if err != nil {
		return nil, store.failure("open", "", err)
	}
	store.bucket = within(bucket, place.Path)
	return store, nil
}

// signPayload includes the SHA-256 of the payload in the signature of each request. Every service verifies it,
// including services that ignore the checksums of newer SDKs. By default the SDK omits it over TLS, but TLS ends at the
// first proxy.
func signPayload(stack *middleware.Stack) error {
	hash := &v4.ComputePayloadSHA256{}
	_, err := stack.Finalize.Swap(hash.ID(), hash)
	return err
}

func awsConfig(ctx context.Context, options protocol.Store, attempts int) (aws.Config, error) {
	client, err := httpClient(options.Credentials)
	if err != nil {
		return aws.Config{}, err
	}
	load := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client), config.WithRetryer(func() aws.Retryer { return retryer(attempts) }),
		config.WithDefaultRegion(protocol.DefaultRegion), config.WithRegion(options.Region),
	}
	if options.Endpoint != "" {
		// Not all services except Amazon S3 support the default checksums of the SDK: see signPayload.
		load = append(load,
			config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
			config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	}
	identity, err := identityOf(options)
	if err != nil {
		return aws.Config{}, err
	}
	settings, err := config.LoadDefaultConfig(ctx, append(load, identity...)...)
	if err != nil {
		return aws.Config{}, failf(protocol.Failed, "The settings for S3 cannot be loaded: %v.", err)
	}
	return settings, nil
}

// retryer also retries requests whose payload changed in transit.
func retryer(attempts int) aws.Retryer {
	return retry.AddWithErrorCodes(retry.AddWithMaxAttempts(retry.NewStandard(), attempts), "XAmzContentSHA256Mismatch", "BadDigest")
}

// httpClient trusts the authorities of the system and those of ca.crt.
func httpClient(folder string) (*awshttp.BuildableClient, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(dialer *net.Dialer) { dialer.Timeout = dialTimeout }).
		WithTransportOptions(func(transport *http.Transport) { transport.ResponseHeaderTimeout = headerTimeout })
	if folder == "" {
		return client, nil
	}
	authorities, err := os.ReadFile(filepath.Join(folder, protocol.AuthoritiesFile)) //nolint:gosec // the operator names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return client, nil
	}
	if err != nil {
		return nil, failf(protocol.CredentialsRefused, "The certificates of ca.crt cannot be read: %v. Allow the pod's user to read the Secret.",
			err)
	}
	trusted, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	if !trusted.AppendCertsFromPEM(authorities) {
		return nil, failf(protocol.CredentialsRefused,
			"The key ca.crt of the Secret with the credentials has no certificate in PEM format. Correct or remove it.")
	}
	return client.WithTransportOptions(func(transport *http.Transport) {
		transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	}), nil
}

// uploads are what the library for buckets cannot do: list the unfinished multipart uploads, which listings of objects do not show but
// cost money, and store an object in memory by one request, without a copy.
type uploads struct {
	client *s3.Client
	bucket string
	sse    types.ServerSideEncryption
	key    *string // of the service for keys
}

// put stores an object, on the condition that there is none if isNew is true.
func (u *uploads) put(ctx context.Context, name string, content []byte, isNew bool) error {
	object := &s3.PutObjectInput{
		Bucket: &u.bucket, Key: &name, Body: bytes.NewReader(content), ContentType: aws.String("application/octet-stream"),
		ServerSideEncryption: u.sse, SSEKMSKeyId: u.key,
	}
	if isNew {
		object.IfNoneMatch = aws.String("*")
	}
	_, err := u.client.PutObject(ctx, object)
	return err
}

// abort aborts the uploads below a folder and a prefix for which match returns true for the name in the folder. A service or a policy may
// forbid listing uploads. Then a lifecycle rule must remove them.
func (u *uploads) abort(ctx context.Context, below, prefix string, match func(name string) bool) error {
	prefix = below + prefix
	pages := s3.NewListMultipartUploadsPaginator(u.client, &s3.ListMultipartUploadsInput{Bucket: &u.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		for _, upload := range page.Uploads {
			if key := aws.ToString(upload.Key); !strings.HasPrefix(key, prefix) || !match(key[len(below):]) {
				continue
			}
			_, err := u.client.AbortMultipartUpload(ctx,
				&s3.AbortMultipartUploadInput{Bucket: &u.bucket, Key: upload.Key, UploadId: upload.UploadId})
			if _, gone := errors.AsType[*types.NoSuchUpload](err); err != nil && !gone {
				return fmt.Errorf("abort the upload of %s: %w", aws.ToString(upload.Key), err)
			}
		}
	}
	return nil
}
