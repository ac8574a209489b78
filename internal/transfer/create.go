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

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// errExists is the answer when an object that shall be created exists. It is never overwritten.
var errExists = errors.New("the object exists")

// create writes a small object where there is none, after everything that was written before is safe from a power
// failure.
func (s *store) create(ctx context.Context, name string, content []byte) error {
	if err := s.settle(); err != nil {
		return err
	}
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
	return s.settle()
}

// exists is errExists for every way in which a store says so.
func exists(err error) error {
	if gcerrors.Code(err) == gcerrors.FailedPrecondition || errors.Is(err, fs.ErrExist) {
		return errExists
	}
	return err
}

// put creates an object of a bucket. Services that ignore or refuse the condition of the write exist: so it looks
// right before. What they still let through leaves two attempts whole, and one of them named by the manifest.
func (s *store) put(ctx context.Context, name string, content []byte) error {
	found, err := s.bucket.Exists(ctx, name)
	if err != nil {
		return err
	}
	if found {
		return errExists
	}
	err = s.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{IfNotExist: true})
	if refusal, ok := errors.AsType[smithy.APIError](err); ok && refusal.ErrorCode() == "NotImplemented" {
		return s.bucket.WriteAll(ctx, name, content, nil)
	}
	return err
}

// link creates a file of a volume as a whole. Only a hard link is refused by every file system, NFS too, when the name
// exists; a file system without hard links is asked right before.
func (s *store) link(ctx context.Context, name string, content []byte) error {
	half := name + "." + newAttempt() + ".tmp"
	if err := s.bucket.WriteAll(ctx, half, content, nil); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(s.folder, half)) //nolint:errcheck // the deletion of the backup removes it
	if err := s.settle(); err != nil {
		return err
	}
	err := os.Link(filepath.Join(s.folder, half), filepath.Join(s.folder, name))
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{IfNotExist: true})
}
