/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// store accesses all objects below one location.
type store struct {
	protocol.Location
	bucket *blob.Bucket
	// Of s3 only; the endpoint is "" for Amazon S3.
	uploads  *uploads
	endpoint string
	workload bool     // uses a workload identity
	secrets  []string // never logged
	// Of file only. sync waits until the data of a file is on the disk, and returns the errors of the disk.
	folder string
	sync   func(*os.File) error
}

// listing maps the names below a location to their sizes.
type listing map[string]int64

// manifests returns the names of the manifests of one backup.
func (l listing) manifests() []string {
	return slices.DeleteFunc(l.names(), func(name string) bool {
		return path.Base(name) != protocol.ManifestName || !protocol.IsOwned(name)
	})
}

func (l listing) names() []string { return slices.Sorted(maps.Keys(l)) }

// openStore opens a store. Each request to a bucket is repeated if that can help.
func openStore(ctx context.Context, url string, options protocol.Store) (*store, error) {
	return openStoreWith(ctx, url, options, attempts)
}

// openStoreWith opens a store with a number of attempts for each request to a bucket.
func openStoreWith(ctx context.Context, url string, options protocol.Store, attempts int) (*store, error) {
	place, err := protocol.ParseLocation(url)
	if err != nil {
		return nil, err
	}
	if place.Scheme == "file" {
		return openVolume(place, options.Root)
	}
	return openBucket(ctx, place, options, attempts)
}

func openVolume(place protocol.Location, root string) (*store, error) {
	store := &store{Location: place, folder: filepath.Join(root, place.Path), sync: (*os.File).Sync}
	// Create temporary files next to the final files: the volume has space, the root file system may not.
	bucket, err := fileblob.OpenBucket(root, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, store.failure("open", "", err)
	}
	store.bucket = within(bucket, place.Path)
	return store, nil
}

func within(bucket *blob.Bucket, path string) *blob.Bucket {
	if path == "" {
		return bucket
	}
	return blob.PrefixedBucket(bucket, path+"/")
}

func (s *store) close() error { return s.bucket.Close() }

// list returns the objects below a prefix. It queries the store, so a missing or forbidden bucket is an error here.
func (s *store) list(ctx context.Context, prefix string) (listing, error) {
	for attempt := 1; ; attempt++ {
		if err := s.readable(prefix); err != nil {
			return nil, err
		}
		listed, err := s.listOnce(ctx, prefix)
		// The library fails on a file that another attempt removes between the name and the size.
		vanished := s.folder != "" && gcerrors.Code(err) == gcerrors.NotFound
		if err == nil || !vanished || attempt == maxListings {
			return listed, s.failure("list", prefix, err)
		}
	}
}

// maxListings bounds the repetitions while other attempts remove files.
const maxListings = 100

func (s *store) listOnce(ctx context.Context, prefix string) (listing, error) {
	listed := listing{}
	objects := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return listed, nil
		}
		if err != nil {
			return nil, err
		}
		listed[object.Key] = object.Size
	}
}

// readable fails for an unreadable folder of a volume, below a prefix. The library would return an empty folder.
func (s *store) readable(prefix string) error {
	if s.folder == "" {
		return nil
	}
	err := filepath.WalkDir(filepath.Join(s.folder, path.Dir(prefix+"x")), func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || entry != nil && entry.Name() == lostAndFound {
			return nil
		}
		return err
	})
	return s.failure("list", "", err)
}

// read returns a small object.
func (s *store) read(ctx context.Context, name string) ([]byte, error) {
	reader, err := s.bucket.NewReader(ctx, name, nil)
	if err != nil {
		return nil, s.failure("read", name, err)
	}
	defer reader.Close() //nolint:errcheck // only read
	var content bytes.Buffer
	content.Grow(int(min(reader.Size(), maxManifestBytes)) + bytes.MinRead)
	_, err = content.ReadFrom(io.LimitReader(reader, maxManifestBytes))
	return content.Bytes(), s.failure("read", name, err)
}

// flush waits until a volume has written the names of files and small files to the disk. It does not replace the sync of
// a file: it misses an error of the disk that another process has collected from the same file system. Data in a bucket
// is durable when the service responds. Only the deadline of the Job limits the time.
func (s *store) flush() error {
	if s.folder == "" {
		return nil
	}
	return s.failure("write to", "", syncFileSystem(s.folder))
}

func syncFileSystem(folder string) error {
	directory, err := os.Open(folder) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	defer directory.Close() //nolint:errcheck // nothing was written through it
	return unix.Syncfs(int(directory.Fd()))
}

// remove returns when the objects are deleted. It ignores objects that are not part of a backup.
func (s *store) remove(ctx context.Context, names []string) error {
	for _, name := range names {
		if !protocol.IsOwned(name) {
			continue
		}
		if err := s.bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return s.failure("delete", name, err)
		}
	}
	return nil
}

// clear removes the objects below a prefix for which match returns true, and their unfinished uploads.
func (s *store) clear(ctx context.Context, prefix string, match func(name string) bool) error {
	listed, err := s.list(ctx, prefix)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(listed.names(), func(name string) bool { return !match(name) })
	// Remove the manifest of the backup first: without it the backup no longer exists.
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Count(a, "/") - strings.Count(b, "/")
	})
	if err := s.remove(ctx, names); err != nil || s.uploads == nil {
		return err
	}
	return s.uploads.abort(ctx, s.Path+"/", prefix, match)
}

// removeFolders removes empty folders on a volume.
func (s *store) removeFolders() error {
	if s.folder == "" {
		return nil
	}
	folders, err := filepath.Glob(filepath.Join(s.folder, protocol.MemberFolders))
	if err != nil {
		return fmt.Errorf("look for folders below %s: %w", s.folder, err)
	}
	for _, folder := range append(folders, s.folder) {
		err := os.Remove(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTEMPTY) {
			return s.failure("delete", "", err)
		}
	}
	return nil
}
