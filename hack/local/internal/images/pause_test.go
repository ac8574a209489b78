package images

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
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
	assertHolds(t, folder, "pause.tar")
}

func pauseImage(t *testing.T) v1.Image {
	t.Helper()
	return written(t, Pause, Options{})
}
