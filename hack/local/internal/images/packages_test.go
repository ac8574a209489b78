package images

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

func TestABundleImageHoldsItsFoldersAndIsLabeledByItsAnnotations(t *testing.T) {
	image := packaged(t, bundleImage, filepath.Join("..", "..", "..", "..", "bundle"))
	labels := configOf(t, image).Config.Labels
	if labels["operators.operatorframework.io.bundle.package.v1"] != "databasecluster-operator" {
		t.Errorf("labels are %v", labels)
	}
	if want := dockerfileLabels(t); !maps.Equal(labels, want) {
		t.Errorf("labels are %v, and bundle.Dockerfile has %v", labels, want)
	}
	content := listing(t, image)
	for _, want := range []string{"0644 0:0 /metadata/annotations.yaml", "0644 0:0 /tests/scorecard/config.yaml", "0755 0:0 /manifests/"} {
		if !slices.Contains(content, want) {
			t.Errorf("the image holds %q, and not %q", content, want)
		}
	}
}

func TestACatalogImageSaysWhereItsCatalogIs(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "catalog.yaml"), []byte("schema: olm.package\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	image := packaged(t, catalogImage, folder)
	if got := configOf(t, image).Config.Labels[labelConfigs]; got != "/configs" {
		t.Errorf("%s is %q", labelConfigs, got)
	}
	if got := contentOf(t, image, "/configs/catalog.yaml"); got != "schema: olm.package\n" {
		t.Errorf("/configs/catalog.yaml is %q", got)
	}
}

func TestAFolderThatIsNoPackageIsRefusedByName(t *testing.T) {
	linked := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(linked, "catalog.yaml")); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		pack func(context.Context, Options) error
		from string
		want string
	}{
		{bundleImage, empty, empty + " is no bundle"},
		{catalogImage, empty, empty + " holds no file"},
		{catalogImage, linked, "catalog.yaml is not a regular file"},
		{catalogImage, filepath.Join(empty, "absent"), filepath.Join(empty, "absent")},
	} {
		refused(t, c.want, c.pack, Options{Reference: "localhost/package:v1", From: c.from})
	}
}

// packaged reads the image back from the files that the layout is made of.
func packaged(t *testing.T, pack func(context.Context, Options) error, from string) v1.Image {
	t.Helper()
	dest := filepath.Join(t.TempDir(), "image.oci.tar")
	if err := pack(t.Context(), Options{Dest: dest, Reference: "localhost/package:v1", From: from}); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	output, err := exec.CommandContext(t.Context(), "tar", "--extract", "--file", dest, "--directory", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func dockerfileLabels(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "bundle.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if label, found := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); found {
			name, value, _ := strings.Cut(label, "=")
			labels[name] = value
		}
	}
	return labels
}
