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
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// anything returns what there is below a location, as a part of a sentence; "" only if there is provably nothing. Objects that are being
// uploaded are something.
func (s *store) anything(ctx context.Context) (string, error) {
	if s.uploads == nil {
		found, err := s.anyFile(s.folder)
		return found, s.failure("list", "", err)
	}
	object, err := s.uploads.anyObject(ctx, s.Path+"/")
	if err == nil && object == "" {
		object, err = s.uploads.anyUpload(ctx, s.Path+"/")
	}
	if errors.Is(err, errNotS3) {
		return "", failf(protocol.DestinationMissing, "%s does not answer as an S3 service: its answers are not for this bucket. "+
			"Correct the endpoint.", s.URL(""))
	}
	return object, s.failure("list", "", err)
}

// anyFile returns a file or a link in a folder. It follows a link to the folder itself, and reports each error: a library may skip both.
func (s *store) anyFile(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) && folder == s.folder {
		return "", nil
	}
	for _, entry := range entries {
		if entry.Name() == lostAndFound {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if !entry.IsDir() {
			name, _ := filepath.Rel(s.folder, path)
			return "the file " + s.URL(name), err
		}
		if found, err := s.anyFile(path); err != nil || found != "" {
			return found, err
		}
	}
	return "", err
}

// errNotS3 means that an answer is not one of S3. The client takes an empty answer, or one of another kind, for an empty listing.
var errNotS3 = errors.New("the answer is not one of S3")

// anyObject returns an object below a prefix.
func (u *uploads) anyObject(ctx context.Context, prefix string) (string, error) {
	page, err := u.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &u.bucket, Prefix: &prefix})
	switch {
	case err != nil:
		return "", err
	case len(page.Contents) > 0:
		return "the object " + aws.ToString(page.Contents[0].Key), nil
	case aws.ToString(page.Name) != u.bucket || aws.ToString(page.Prefix) != prefix || page.IsTruncated == nil || *page.IsTruncated:
		return "", errNotS3
	}
	return "", nil
}

// anyUpload returns an unfinished upload below a prefix. A service that does not know such uploads has none.
func (u *uploads) anyUpload(ctx context.Context, prefix string) (string, error) {
	pages := s3.NewListMultipartUploadsPaginator(u.client, &s3.ListMultipartUploadsInput{Bucket: &u.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if refusal, ok := errors.AsType[smithy.APIError](err); ok && refusal.ErrorCode() == "NotImplemented" {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, upload := range page.Uploads {
			if key := aws.ToString(upload.Key); strings.HasPrefix(key, prefix) {
				return "an unfinished upload, " + key, nil
			}
		}
		if aws.ToString(page.Bucket) != u.bucket {
			return "", errNotS3
		}
	}
	return "", nil
}
