package images

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// file is one regular file of a layer: its content is body, or that of the host's file source.
type file struct {
	path   string
	mode   int64
	body   []byte
	source string
}

// layerOf packs files, owned by root and in the order of their paths.
func layerOf(files ...file) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := pack(&packed, files); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
	}, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

// pack writes an archive that depends on the files alone.
func pack(dest io.Writer, files []file) error {
	archive := tar.NewWriter(dest)
	for _, folder := range foldersOf(files) {
		if err := archive.WriteHeader(folderHeader(folder)); err != nil {
			return fmt.Errorf("add folder /%s to the image: %w", folder, err)
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	for _, f := range files {
		if err := f.appendTo(archive); err != nil {
			return fmt.Errorf("add /%s to the image: %w", f.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack the files: %w", err)
	}
	return nil
}

// foldersOf names every folder above the files, outer ones first: what unpacks a layer may
// give folders that it does not name any mode it likes.
func foldersOf(files []file) []string {
	folders := map[string]bool{}
	for _, f := range files {
		for folder := path.Dir(f.path); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

func folderHeader(folder string) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch, Format: tar.FormatPAX}
}

func (f file) appendTo(archive *tar.Writer) error {
	body := f.body
	if f.source != "" {
		read, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		body = read
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     f.path,
		Mode:     f.mode,
		Size:     int64(len(body)),
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(body)
	return err
}
