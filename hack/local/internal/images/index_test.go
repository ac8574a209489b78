package images

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func TestTheIndexHasForEachPlatformAnImageWhoseProgramsAreMadeForIt(t *testing.T) {
	index, err := operator.index(Options{Version: "1.2.3", Platforms: platforms(t)})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, descriptor := range manifest.Manifests {
		seen = append(seen, descriptor.Platform.String())
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if config := configOf(t, image); config.OS+"/"+config.Architecture != descriptor.Platform.String() {
			t.Errorf("the image for %s says that it is for %s/%s", descriptor.Platform, config.OS, config.Architecture)
		}
		checkPrograms(t, image, machines[descriptor.Platform.Architecture])
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(seen, want) || manifest.MediaType != types.OCIImageIndex {
		t.Errorf("the %s names %q, want %q", manifest.MediaType, seen, want)
	}
}

func checkPrograms(t *testing.T, image v1.Image, want elf.Machine) {
	t.Helper()
	for _, name := range []string{"/manager", "/transfer"} {
		program, err := elf.NewFile(strings.NewReader(contentOf(t, image, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if program.Machine != want {
			t.Errorf("%s is made for %s, want %s", name, program.Machine, want)
		}
	}
}

func TestTheSameBinariesGiveTheSameLayoutToTheByte(t *testing.T) {
	folders := platforms(t)
	var written [2][]byte
	for i := range written {
		dest := filepath.Join(t.TempDir(), "operator.oci.tar")
		if err := operator.writeIndex(t.Context(), Options{Dest: dest, Version: "1.2.3", Platforms: folders}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(dest)
		if err != nil {
			t.Fatal(err)
		}
		written[i] = content
	}
	if !bytes.Equal(written[0], written[1]) {
		t.Error("two layouts of the same binaries differ")
	}
}

func TestBinariesOfAnotherPlatformAreRefusedByName(t *testing.T) {
	folders := platforms(t)
	for want, given := range map[string]map[string]string{
		"made for EM_X86_64: build it with GOARCH=arm64":  {"arm64": folders["amd64"]},
		"made for EM_AARCH64: build it with GOARCH=amd64": {"amd64": folders["arm64"]},
		"linux/riscv64: this architecture is not one of":  {"riscv64": folders["amd64"]},
		"names no architecture":                           {},
	} {
		refused(t, want, operator.writeIndex, Options{Version: "1.2.3", Platforms: given})
	}
}

func TestTheAuthoritiesAreThoseOfGoModAndNotOfTheMachine(t *testing.T) {
	content := contentOf(t, operatorImage(t, staticBinary(t)), "/etc/ssl/certs/ca-certificates.crt")
	if content != string(authorities()) || strings.Count(content, "BEGIN CERTIFICATE") < 50 {
		t.Errorf("the image trusts %d authorities", strings.Count(content, "BEGIN CERTIFICATE"))
	}
}

// platforms returns for each architecture a folder with a manager and a transfer: pause will do for both.
func platforms(t *testing.T) map[string]string {
	t.Helper()
	folders := map[string]string{}
	for architecture := range machines {
		t.Setenv("GOARCH", architecture)
		folders[architecture] = t.TempDir()
		binary := staticBinary(t)
		for _, name := range []string{"manager", "transfer"} {
			if err := os.Link(binary, filepath.Join(folders[architecture], name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folders
}
