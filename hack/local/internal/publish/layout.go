package publish

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// annotationName is where an OCI layout of ours has the whole name of its image.
const annotationName = "io.containerd.image.name"

// openLayout unpacks the tarball of an OCI layout into a folder that release removes.
func openLayout(file string) (found artifact, release func(), err error) {
	folder, err := os.MkdirTemp("", "layout-")
	if err != nil {
		return artifact{}, nil, fmt.Errorf("make a folder to unpack %s in: %w", file, err)
	}
	remove := func() { _ = os.RemoveAll(folder) }
	if err := unpack(file, folder); err != nil {
		remove()
		return artifact{}, nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	found, err = readLayout(folder)
	if err != nil {
		remove()
		return artifact{}, nil, fmt.Errorf("%s is no OCI layout with one named image: %w", file, err)
	}
	found.file = file
	return found, remove, nil
}

// unpack keeps within the folder whatever the names in the archive are.
func unpack(file, folder string) error {
	source, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for archive := tar.NewReader(source); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpackEntry(root, header, archive); err != nil {
			return err
		}
	}
}

func unpackEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(header.Name), 0o755); err != nil {
		return err
	}
	dest, err := root.Create(header.Name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dest, content); err != nil {
		_ = dest.Close()
		return err
	}
	return dest.Close()
}

func readLayout(folder string) (artifact, error) {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return artifact{}, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return artifact{}, err
	}
	if len(manifest.Manifests) != 1 {
		return artifact{}, fmt.Errorf("it holds %d images", len(manifest.Manifests))
	}
	descriptor := manifest.Manifests[0]
	tag, err := name.NewTag(descriptor.Annotations[annotationName], name.StrictValidation)
	if err != nil {
		return artifact{}, fmt.Errorf("the annotation %s: %w", annotationName, err)
	}
	content, err := taggable(index, descriptor)
	return artifact{tag: tag, digest: descriptor.Digest, content: content}, err
}

func taggable(index v1.ImageIndex, descriptor v1.Descriptor) (remote.Taggable, error) {
	if descriptor.MediaType.IsIndex() {
		return index.ImageIndex(descriptor.Digest)
	}
	return index.Image(descriptor.Digest)
}
