/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// errExists means that the object to create already exists. transfer never overwrites it.
var errExists = errors.New("the object already exists")

// create writes a small object if it does not exist. It becomes visible when all previous objects are durable.
func (s *store) create(ctx context.Context, name string, content []byte) error {
	create := s.put
	if s.folder != "" {
		create = s.link
	}
	switch err := exists(create(ctx, name, content)); {
	case errors.Is(err, errExists):
		return err
	case err != nil:
		return s.failure("write", name, err)
	}
	return s.flush()
}

// exists returns errExists for all variants of this error of a store.
func exists(err error) error {
	if refusal, is := errors.AsType[smithy.APIError](err); is && refusal.ErrorCode() == "PreconditionFailed" {
		return errExists
	}
	if gcerrors.Code(err) == gcerrors.FailedPrecondition || errors.Is(err, fs.ErrExist) {
		return errExists
	}
	return err
}

// put creates an object in a bucket. Some services ignore or reject the condition of the write, so put checks right
// before the write. In the remaining race both attempts stay complete, and the manifest names one of them.
func (s *store) put(ctx context.Context, name string, content []byte) error {
	found, err := s.bucket.Exists(ctx, name)
	if err != nil {
		return err
	}
	if found {
		return errExists
	}
	return s.putNew(ctx, name, content)
}

// putNew creates an object in a bucket, on the condition that it does not exist if the service knows conditions.
func (s *store) putNew(ctx context.Context, name string, content []byte) error {
	put := s.uploads.put
	key := path.Join(s.Path, name)
	if escaped(key) {
		key, put = name, s.write
	}
	err := put(ctx, key, content, true)
	if refusal, ok := errors.AsType[smithy.APIError](err); ok && refusal.ErrorCode() == "NotImplemented" {
		return put(ctx, key, content, false)
	}
	return err
}

// escaped reports whether the library for buckets, which reads the object, may use another key for it.
func escaped(key string) bool {
	return strings.Contains(key, "../") || strings.ContainsFunc(key, unicode.IsControl)
}

// write stores an object by the library for buckets.
func (s *store) write(ctx context.Context, name string, content []byte, isNew bool) error {
	return s.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{IfNotExist: isNew})
}

// link creates a file on a volume atomically. If the name exists, every file system rejects a hard link, even NFS. On a
// file system without hard links, link checks right before.
func (s *store) link(ctx context.Context, name string, content []byte) error {
	half := name + "." + newAttempt() + ".tmp"
	if err := s.bucket.WriteAll(ctx, half, content, nil); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(s.folder, half)) //nolint:errcheck // the deletion of the backup also removes it
	if err := s.flush(); err != nil {
		return err
	}
	err := os.Link(filepath.Join(s.folder, half), filepath.Join(s.folder, name))
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.write(ctx, name, content, true)
}
