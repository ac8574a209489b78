package images

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestPauseIsAnImageThatContainerdTakes(t *testing.T) {
	image := pauseImage(t)
	config := configOf(t, image)
	if config.OS != "linux" || config.Architecture != runtime.GOARCH {
		t.Errorf("platform is %q/%q, want linux/%s", config.OS, config.Architecture, runtime.GOARCH)
	}
	if config.Config.User != "65535:65535" {
		t.Errorf("user is %q, want 65535:65535", config.Config.User)
	}
	if want := []string{"0755 0:0 /pause"}; !slices.Equal(listing(t, image), want) {
		t.Errorf("the image holds %q, want %q", listing(t, image), want)
	}
}

func TestPauseBuiltTwiceHasOneDigest(t *testing.T) {
	if first, second := digestOf(t, pauseImage(t)), digestOf(t, pauseImage(t)); first != second {
		t.Errorf("digests differ: %s and %s", first, second)
	}
}

func TestPauseLeavesNothingButTheTarball(t *testing.T) {
	folder := t.TempDir()
	if err := Pause(t.Context(), Options{Dest: filepath.Join(folder, "pause.tar")}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "pause.tar" {
		t.Errorf("the folder holds %v, want pause.tar alone", entries)
	}
}

func pauseImage(t *testing.T) v1.Image {
	t.Helper()
	dest := filepath.Join(t.TempDir(), "pause.tar")
	if err := Pause(t.Context(), Options{Dest: dest}); err != nil {
		t.Fatal(err)
	}
	return load(t, dest)
}

func load(t *testing.T, path string) v1.Image {
	t.Helper()
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Digests that do not fit the content only show when a runtime unpacks it.
	if err := validate.Image(image); err != nil {
		t.Fatal(err)
	}
	return image
}
