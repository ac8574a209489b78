package images

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
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

// file is one regular file of a layer. Its content is body, or that of the file source on this machine.
type file struct {
	path   string
	mode   int64
	body   []byte
	source string
}

// layerOf packs files, owned by root and sorted by path.
func layerOf(files ...file) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := pack(&packed, files); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
	}, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

// pack writes an archive that depends only on the files.
func pack(dest io.Writer, files []file) error {
	archive := tar.NewWriter(dest)
	for _, folder := range foldersOf(files) {
		if err := add(archive, tar.TypeDir, folder+"/", 0o755, nil); err != nil {
			return fmt.Errorf("add folder /%s to the image: %w", folder, err)
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	for _, f := range files {
		body, err := f.body, error(nil)
		if f.source != "" {
			body, err = os.ReadFile(f.source)
		}
		if err == nil {
			err = add(archive, tar.TypeReg, f.path, f.mode, body)
		}
		if err != nil {
			return fmt.Errorf("add /%s to the image: %w", f.path, err)
		}
	}
	return archive.Close()
}

func add(archive *tar.Writer, kind byte, name string, mode int64, body []byte) error {
	header := &tar.Header{Typeflag: kind, Name: name, Mode: mode, Size: int64(len(body)), ModTime: epoch, Format: tar.FormatPAX}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(body)
	return err
}

// foldersOf returns every parent folder of the files, outer ones first. Otherwise an unpacking program chooses their
// modes.
func foldersOf(files []file) []string {
	folders := map[string]bool{}
	for _, f := range files {
		for folder := path.Dir(f.path); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

// layerOfTree packs a folder with its owners, modes and links, but with fixed times, with GNU tar from Debian. It omits
// devices, because the runtime creates them.
func layerOfTree(ctx context.Context, root string) (v1.Layer, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	arguments := []string{
		"--create", "--file", root + ".tar", "--directory", root, "--sort=name", "--mtime=@0", "--numeric-owner", "--hard-dereference",
		"--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime", "--exclude=dev/*",
	}
	for _, entry := range entries {
		arguments = append(arguments, entry.Name())
	}
	if err := run(ctx, "tar", arguments...); err != nil {
		return nil, err
	}
	return tarball.LayerFromFile(root+".tar", tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}
