/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive packs headers, each with its name as the content of a file.
func archive(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	packed := tar.NewWriter(zipped)
	for _, header := range headers {
		header.Mode = 0o600
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(header.Name))
		}
		if err := packed.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := packed.Write([]byte(header.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(packed.Close(), zipped.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABundleIsUnpacked(t *testing.T) {
	folder := t.TempDir()
	packed := archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "manifests/"}, tar.Header{Typeflag: tar.TypeReg, Name: "manifests/csv.yaml"},
		tar.Header{Typeflag: tar.TypeReg, Name: "tests/scorecard/config.yaml"})
	if err := untar([]string{"xvzf", packed, "-C", folder}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"manifests/csv.yaml", "tests/scorecard/config.yaml"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(text) != name {
			t.Errorf("%s holds %q: %v", name, text, err)
		}
	}
}

func TestNothingLeavesTheFolder(t *testing.T) {
	for _, header := range []tar.Header{
		{Typeflag: tar.TypeReg, Name: "../outside"}, {Typeflag: tar.TypeReg, Name: "/outside"}, {Typeflag: tar.TypeDir, Name: "../outside"},
		{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "/etc"},
	} {
		parent := t.TempDir()
		folder := filepath.Join(parent, "inside")
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := untar([]string{"xvzf", archive(t, header), "-C", folder}); err == nil {
			t.Errorf("%s was unpacked", header.Name)
		}
		for _, where := range []string{parent, folder} {
			if left, err := os.ReadDir(where); err != nil || len(left) > 1 || (where == folder && len(left) > 0) {
				t.Errorf("after %s there is %v in %s: %v", header.Name, left, where, err)
			}
		}
	}
}

func TestAnotherTarIsNotOffered(t *testing.T) {
	for _, arguments := range [][]string{{"xf", "a", "-C", "b"}, {"xvzf", "a"}, {"xvzf", "a", "--to", "b"}} {
		if err := untar(arguments); err == nil || !strings.Contains(err.Error(), "xvzf ARCHIVE -C FOLDER") {
			t.Errorf("%q: the error is %v", arguments, err)
		}
	}
}
