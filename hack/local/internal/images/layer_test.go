package images

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestFoldersComeBeforeWhatIsInThem(t *testing.T) {
	layer, err := layerOf(file{path: "usr/bin/b", mode: 0o755}, file{path: "etc/a", mode: 0o644}, file{path: "c", mode: 0o600})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0755 0:0 /etc/", "0755 0:0 /usr/", "0755 0:0 /usr/bin/", "0600 0:0 /c", "0644 0:0 /etc/a", "0755 0:0 /usr/bin/b"}
	if got := listing(t, imageOf(t, layer)); !slices.Equal(got, want) {
		t.Errorf("layer holds\n%q, want\n%q", got, want)
	}
}

func TestAFileThatIsMissingIsNamed(t *testing.T) {
	_, err := layerOf(file{path: "manager", source: "/does/not/exist"})
	if want := "add /manager to the image: open /does/not/exist: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestATreeKeepsModesAndLinksAndIgnoresTheClock(t *testing.T) {
	first := imageOf(t, treeLayer(t, time.Unix(1000, 0)))
	second := imageOf(t, treeLayer(t, time.Unix(2000, 0)))
	owner := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	want := []string{
		"0777 " + owner + " /a-link", "0750 " + owner + " /private/", "0640 " + owner + " /private/file",
		"1777 " + owner + " /sticky/",
	}
	if got := listing(t, first); !slices.Equal(got, want) {
		t.Errorf("layer holds\n%q, want\n%q", got, want)
	}
	if digestOf(t, first) != digestOf(t, second) {
		t.Errorf("the digest depends on when files were written")
	}
}

func TestATreeThatCannotBeReadIsAnError(t *testing.T) {
	if _, err := layerOfTree(t.Context(), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a folder that is not there made a layer")
	}
}

// treeLayer packs a folder made of every kind of entry, all written at the given time.
func treeLayer(t *testing.T, written time.Time) v1.Layer {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	private, sticky := filepath.Join(root, "private"), filepath.Join(root, "sticky")
	inside := filepath.Join(private, "file")
	for _, err := range []error{
		os.Mkdir(private, 0o750), os.Mkdir(sticky, 0o777), os.Chmod(sticky, os.ModeSticky|0o777),
		os.WriteFile(inside, []byte("content"), 0o640), os.Symlink("private/file", filepath.Join(root, "a-link")),
		os.Chtimes(inside, written, written), os.Chtimes(private, written, written), os.Chtimes(sticky, written, written),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	layer, err := layerOfTree(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return layer
}
