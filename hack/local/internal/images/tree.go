package images

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layerOfTree packs a folder with its owners, modes and links, but with fixed times. Device
// nodes and sockets are left out: a container is given its own.
func layerOfTree(root string) (v1.Layer, error) {
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(packTree(root, writer)) }()
		return reader, nil
	}, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

func packTree(root string, dest io.Writer) error {
	archive := tar.NewWriter(dest)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if kind := entry.Type(); !kind.IsRegular() && !kind.IsDir() && kind != fs.ModeSymlink {
			return nil
		}
		return packEntry(archive, root, path, entry)
	})
	if err != nil {
		return fmt.Errorf("pack the layer: %w", err)
	}
	return archive.Close()
}

func packEntry(archive *tar.Writer, root, path string, entry fs.DirEntry) error {
	header, err := headerOf(root, path, entry)
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	if !entry.Type().IsRegular() {
		return nil
	}
	content, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	_, err = io.Copy(archive, content)
	return err
}

func headerOf(root, path string, entry fs.DirEntry) (*tar.Header, error) {
	info, err := entry.Info()
	if err != nil {
		return nil, err
	}
	target := ""
	if entry.Type() == fs.ModeSymlink {
		if target, err = os.Readlink(path); err != nil {
			return nil, err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return nil, err
	}
	if header.Name, err = filepath.Rel(root, path); err != nil {
		return nil, err
	}
	if entry.IsDir() {
		header.Name += "/"
	}
	// The host's names of users and its clock would only change the digest.
	header.Uname, header.Gname, header.Format = "", "", tar.FormatPAX
	header.ModTime, header.AccessTime, header.ChangeTime = epoch, time.Time{}, time.Time{}
	return header, nil
}
