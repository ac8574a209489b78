/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// untar implements the tar call of the scorecard's init container: xvzf ARCHIVE -C FOLDER.
func untar(arguments []string) error {
	if len(arguments) != 4 || !slices.Equal([]string{arguments[0], arguments[2]}, []string{"xvzf", "-C"}) {
		return fmt.Errorf("tar %q is not supported: use xvzf ARCHIVE -C FOLDER", arguments)
	}
	archive, err := os.Open(arguments[1])
	if err != nil {
		return err
	}
	defer archive.Close()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("%s is not compressed: %w", arguments[1], err)
	}
	root, err := os.OpenRoot(arguments[3])
	if err != nil {
		return err
	}
	defer root.Close()
	return unpack(tar.NewReader(unzipped), root)
}

// unpack writes the folders and files of an archive. No name in the archive can lead out of root.
func unpack(archive *tar.Reader, root *os.Root) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(header.Name), 0o755)
		case tar.TypeReg:
			err = write(root, header.Name, archive)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

func write(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
