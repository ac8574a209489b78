//go:build supply

package supply

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Builds one release without a network, and again with other settings and a registry.
func TestAReleaseIsReproducibleAndPushedOnlyOnRequest(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	to := strings.TrimPrefix(server.URL, "http://") + "/you"

	if _, err := exec.LookPath("unshare"); err != nil {
		t.Fatalf("a command without a network needs unshare, of util-linux: %v", err)
	}
	// Both use the same commit, even if the checkout changes in the meantime.
	alone, pushing := clone(t, filepath.Join(t.TempDir(), "alone")), clone(t, filepath.Join(t.TempDir(), "another-and-longer", "path"))
	output, err := run(t, alone, nil, "unshare", append(newNetwork(), "make", "release", "IMAGE_TAG_BASE="+to+"/databasecluster-operator")...)
	if err != nil || !strings.Contains(output, "Nothing was pushed") {
		t.Fatalf("without a network: %v\n%s", err, output)
	}
	settings := []string{"TZ=Pacific/Apia", "LC_ALL=C", "GOFLAGS=-buildvcs=true", "TAR_OPTIONS=--format=posix", "GZIP=-1", "IMG=registry.example.com/wrong:v1"}
	if output, err = run(t, pushing, settings, "bash", "-c", "umask 077; make release PUSH_TO="+to); err != nil {
		t.Fatalf("with a registry: %v\n%s", err, output)
	}

	first, second := released(t, alone), released(t, pushing)
	if sums := contentOf(t, first, "SHA256SUMS"); sums != contentOf(t, second, "SHA256SUMS") {
		t.Errorf("two releases of one commit differ:\n%s\nand\n%s", sums, contentOf(t, second, "SHA256SUMS"))
	}
	mustRun(t, second, "sha256sum", "--check", "--quiet", "SHA256SUMS")
	checkPushed(t, to, contentOf(t, second, "images.txt"))
	checkPlatforms(t, to)
	checkReferences(t, second, to)
}

func TestWhatMustNotBeReleasedIsRefused(t *testing.T) {
	checkout := clone(t, filepath.Join(t.TempDir(), "checkout"))
	previous := strings.Fields(contentOf(t, checkout, "hack/previous-release"))[0]
	refused := func(want string, arguments ...string) {
		t.Helper()
		output, err := run(t, checkout, nil, "make", append([]string{"release"}, arguments...)...)
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("error is %v, want one and %q:\n%s", err, want, output)
		}
		if _, err := os.Stat(filepath.Join(checkout, "dist/release")); err == nil {
			t.Errorf("something was released all the same:\n%s", output)
		}
	}
	refused("and the Makefile of this commit says", "VERSION=9.9.9")
	changed(t, checkout, "README.md", "# ", "## ")
	refused("not as committed", "PUSH_TO=127.0.0.1:1/you")
	mustRun(t, checkout, "git", "checkout", "README.md")

	version := strings.TrimSpace(strings.TrimPrefix(firstLine(t, checkout, "Makefile", "VERSION ?= "), "VERSION ?= "))
	changed(t, checkout, "Makefile", "VERSION ?= "+version, "VERSION ?= "+previous)
	commit(t, checkout)
	refused("VERSION " + previous + " is already released")
	changed(t, checkout, "Makefile", "VERSION ?= "+previous, "VERSION ?= 0.0.1")
	commit(t, checkout)
	refused("VERSION 0.0.1 comes before " + previous)
	changed(t, checkout, "Makefile", "VERSION ?= 0.0.1", "VERSION ?= "+version)
	changed(t, checkout, "config/crd/bases/database.dbcluster.io_databasebackups.yaml", "scope: Namespaced", "scope: Cluster")
	commit(t, checkout)
	refused("an upgrade would break clusters that run")
}

// newNetwork returns the arguments of unshare that run a command in an empty network.
func newNetwork() []string {
	if os.Geteuid() == 0 {
		return []string{"--net", "--"}
	}
	return []string{"--net", "--map-root-user", "--"}
}

func clone(t *testing.T, folder string) string {
	t.Helper()
	mustRun(t, root(t), "git", "clone", "--quiet", "--shared", ".", folder)
	return folder
}

func commit(t *testing.T, folder string) {
	t.Helper()
	mustRun(t, folder, "git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false",
		"commit", "--quiet", "--all", "--message", "changed")
}

// changed replaces text in a file.
func changed(t *testing.T, folder, file, from, to string) {
	t.Helper()
	content := contentOf(t, folder, file)
	if !strings.Contains(content, from) {
		t.Fatalf("%s does not hold %q", file, from)
	}
	write(t, filepath.Join(folder, file), strings.Replace(content, from, to, 1))
}

// released returns the folder of the only release in a checkout.
func released(t *testing.T, checkout string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(checkout, "dist/release/*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("there are %d releases, want one (%v)", len(found), err)
	}
	return found[0]
}

// checkPushed compares the registry with the images of the release.
func checkPushed(t *testing.T, to, images string) {
	t.Helper()
	var seen []string
	for line := range strings.Lines(images) {
		tagged, digest, _ := strings.Cut(strings.TrimSpace(line), "@")
		if got := headOf(t, tagged).Digest.String(); got != digest {
			t.Errorf("the registry has %s as %s, the release says %s", tagged, got, digest)
		}
		repository, _, _ := strings.Cut(strings.TrimPrefix(tagged, to+"/databasecluster-operator"), ":")
		seen = append(seen, repository)
	}
	if want := []string{"", "-scorecard", "-bundle", "-catalog"}; !slices.Equal(seen, want) {
		t.Errorf("the release has the images %q, want %q", seen, want)
	}
	repository, err := name.NewRepository(to + "/charts/databasecluster-operator")
	if err != nil {
		t.Fatal(err)
	}
	if tags, err := remote.List(repository); err != nil || len(tags) != 1 {
		t.Errorf("the chart has the tags %q (%v)", tags, err)
	}
}

func headOf(t *testing.T, reference string) *v1.Descriptor {
	t.Helper()
	tag, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := remote.Head(tag)
	if err != nil {
		t.Fatalf("%s: %v", reference, err)
	}
	return descriptor
}

// checkPlatforms inspects programs that cannot run here.
func checkPlatforms(t *testing.T, to string) {
	t.Helper()
	repository, err := name.NewRepository(to + "/databasecluster-operator")
	if err != nil {
		t.Fatal(err)
	}
	tags, err := remote.List(repository)
	if err != nil || len(tags) != 1 {
		t.Fatalf("the operator's image has the tags %q (%v)", tags, err)
	}
	index, err := remote.Index(repository.Tag(tags[0]))
	if err != nil {
		t.Fatal(err)
	}
	for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		image, err := remote.Image(repository.Tag(tags[0]), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != architecture || config.OS != "linux" {
			t.Errorf("the image for %s is for %s/%s (%v)", architecture, config.OS, config.Architecture, err)
		}
		if programs := programsOf(t, image); programs["manager"] != machine || programs["transfer"] != machine {
			t.Errorf("the programs for %s are made for %v", architecture, programs)
		}
	}
	if manifest, err := index.IndexManifest(); err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("the index has %d images, want two (%v)", len(manifest.Manifests), err)
	}
}

func programsOf(t *testing.T, image v1.Image) map[string]elf.Machine {
	t.Helper()
	programs := map[string]elf.Machine{}
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if err != nil {
			return programs
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if program, err := elf.NewFile(bytes.NewReader(body)); err == nil {
			programs[header.Name] = program.Machine
		}
	}
}

// checkReferences checks that the installation files use the images of this release.
func checkReferences(t *testing.T, folder, to string) {
	t.Helper()
	operator, _, _ := strings.Cut(contentOf(t, folder, "images.txt"), "\n")
	tagged, digest, _ := strings.Cut(operator, "@")
	repository := tagged[:strings.LastIndex(tagged, ":")]
	version := strings.TrimPrefix(tagged[len(repository):], ":v")
	for file, times := range map[string]int{"operator.yaml": 2, "install.yaml": 2} {
		if got := strings.Count(contentOf(t, folder, file), ": "+repository+"@"+digest+"\n"); got != times {
			t.Errorf("%s names %s %d times, want %d", file, repository+"@"+digest, got, times)
		}
	}
	csv := mustRun(t, folder, "tar", "-xzOf", "databasecluster-operator-bundle-"+version+".tar.gz",
		"bundle/manifests/databasecluster-operator.clusterserviceversion.yaml")
	if got := strings.Count(csv, repository+"@"+digest); got < 4 { // annotation, container, TRANSFER_IMAGE, relatedImages
		t.Errorf("the bundle names the operator's image by its digest %d times:\n%s", got, csv)
	}
	values := mustRun(t, folder, "tar", "-xzOf", "databasecluster-operator-"+version+".tgz", "databasecluster-operator/values.yaml")
	if !strings.Contains(values, "digest: "+digest) || !strings.Contains(values, "repository: "+repository+"\n") {
		t.Errorf("the chart does not name the operator's image by its digest:\n%s", values)
	}
	for file, text := range map[string]string{"the CSV": csv, "the values": values, "install.yaml": contentOf(t, folder, "install.yaml")} {
		if strings.Contains(text, "ghcr.io/dbcluster/databasecluster-operator") {
			t.Errorf("%s names an image at another place than %s", file, to)
		}
	}
	// The previous release keeps its references.
	catalog := contentOf(t, folder, "catalog.yaml")
	if !strings.Contains(catalog, "image: "+repository+"-bundle@sha256:") || strings.Contains(catalog, ":v"+version+"\n") {
		t.Errorf("the catalog does not name today's bundle by its digest:\n%s", catalog)
	}
}

func firstLine(t *testing.T, folder, file, prefix string) string {
	t.Helper()
	for line := range strings.Lines(contentOf(t, folder, file)) {
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
	t.Fatalf("no line of %s begins with %q", file, prefix)
	return ""
}

func contentOf(t *testing.T, folder, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
