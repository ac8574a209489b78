package images

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// The checks for every image.

func configOf(t *testing.T, image v1.Image) *v1.ConfigFile {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func digestOf(t *testing.T, image v1.Image) string {
	t.Helper()
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// listing returns every entry of every layer as "mode uid:gid /path", in the order of the archive.
func listing(t *testing.T, image v1.Image) []string {
	t.Helper()
	var lines []string
	walk(t, image, func(header *tar.Header, _ io.Reader) {
		lines = append(lines, fmt.Sprintf("%04o %d:%d /%s", header.Mode, header.Uid, header.Gid, header.Name))
	})
	return lines
}

func walk(t *testing.T, image v1.Image, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		walkLayer(t, layer, visit)
	}
}

func walkLayer(t *testing.T, layer v1.Layer, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	content, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(header, archive)
	}
}

func imageOf(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := assemble(runtime.GOARCH, v1.Config{}, layers...)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// contentOf returns a file of the image.
func contentOf(t *testing.T, image v1.Image, path string) string {
	t.Helper()
	var content []byte
	walk(t, image, func(header *tar.Header, body io.Reader) {
		if "/"+header.Name != path {
			return
		}
		read, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		content = read
	})
	return string(content)
}

// written returns the image that a function writes.
func written(t *testing.T, write func(context.Context, Options) error, options Options) v1.Image {
	t.Helper()
	options.Dest = filepath.Join(t.TempDir(), "image.tar")
	if err := write(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return load(t, options.Dest)
}

func load(t *testing.T, path string) v1.Image {
	t.Helper()
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A runtime detects wrong digests only when it unpacks the image.
	if err := validate.Image(image); err != nil {
		t.Fatal(err)
	}
	return image
}

// checkName compares the name of an image in its tarball with the expected name.
func checkName(t *testing.T, want string, write func(context.Context, Options) error, options Options) {
	t.Helper()
	options.Dest = filepath.Join(t.TempDir(), "image.tar")
	if err := write(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(options.Dest) })
	if err != nil {
		t.Fatal(err)
	}
	if got := manifest[0].RepoTags; !slices.Equal(got, []string{want}) {
		t.Errorf("reference %q gives the name %q, want %s", options.Reference, got, want)
	}
}

// refused fails unless a function returns an error with this text and writes no image.
func refused(t *testing.T, want string, write func(context.Context, Options) error, options Options) {
	t.Helper()
	options.Dest = filepath.Join(t.TempDir(), "image.tar")
	if err := write(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%+v: error is %v, want one with %q", options, err, want)
	}
	if _, err := os.Stat(options.Dest); err == nil {
		t.Errorf("%+v: an image was written all the same", options)
	}
}
