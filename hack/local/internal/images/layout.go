package images

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// Annotations with the name of an image in an OCI layout: the tag, as in the specification, and the full name, for
// containerd.
const (
	annotationTag  = "org.opencontainers.image.ref.name"
	annotationName = "io.containerd.image.name"
)

// writeLayout writes an image or an index as an OCI layout in a tarball at dest. Unlike a docker-archive it contains
// the manifests, so its digest equals the digest in a registry.
func writeLayout(content mutate.Appendable, reference, dest string) error {
	tag, err := parse(reference)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("create a folder for the layout of %s: %w", reference, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	named := v1.Descriptor{Annotations: map[string]string{annotationTag: tag.TagStr(), annotationName: tag.Name()}}
	if _, err := layout.Write(folder, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: content, Descriptor: named})); err != nil {
		return fmt.Errorf("lay out %s: %w", reference, err)
	}
	laidOut, err := filesBelow(folder, "")
	if err != nil {
		return fmt.Errorf("read the layout of %s: %w", reference, err)
	}
	return files.Whole(dest, func(partial string) error { return packFile(partial, laidOut) })
}

// filesBelow returns the regular files of a folder, for another folder. It rejects links, because their targets depend
// on this machine.
func filesBelow(folder, into string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, file{path: filepath.ToSlash(filepath.Join(into, name)), mode: 0o644, source: path})
		return err
	})
	return files, err
}

func packFile(dest string, files []file) error {
	archive, err := os.Create(dest)
	if err != nil {
		return err
	}
	if err := pack(archive, files); err != nil {
		_ = archive.Close()
		return err
	}
	return archive.Close()
}
