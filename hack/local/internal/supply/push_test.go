//go:build supply

package supply

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
)

func TestWhatIsPushedHasInTheRegistryTheDigestThatItHadOnDisk(t *testing.T) {
	to, _ := startRegistry(t, nil)
	file := bundleImage(t, to, "one")
	_, index, _ := strings.Cut(mustRun(t, ".", "tar", "-xOf", file, "index.json"), `"digest":"`)
	digest, _, _ := strings.Cut(index, `"`)
	pushed := mustPush(t, to, file)
	if want := to + "/bundle:v1.0.0@" + digest + "\n"; !strings.HasSuffix(pushed, want) {
		t.Errorf("pushed %q, want %q", pushed, want)
	}
	if got := digestThere(t, to+"/bundle:v1.0.0"); got != digest {
		t.Errorf("the registry has %s, the file is %s", got, digest)
	}
}

func TestPushingTwiceSendsNothingTheSecondTime(t *testing.T) {
	writes := 0
	to, _ := startRegistry(t, func(request *http.Request) {
		if request.Method == http.MethodPut || request.Method == http.MethodPost || request.Method == http.MethodPatch {
			writes++
		}
	})
	image, chart := bundleImage(t, to, "one"), chartPackage(t, "1.0.0+1")
	mustPush(t, to, image, chart)
	before := writes
	mustPush(t, to, image, chart)
	if before == 0 || writes != before {
		t.Errorf("the first push wrote %d times, the second %d times", before, writes-before)
	}
}

func TestATagWithOtherContentIsRefusedBeforeAnythingIsPushed(t *testing.T) {
	to, _ := startRegistry(t, nil)
	mustPush(t, to, bundleImage(t, to, "one"))
	before := digestThere(t, to+"/bundle:v1.0.0")
	refused(t, "release another version", to, chartPackage(t, "1.0.0"), bundleImage(t, to, "another"))
	if after := digestThere(t, to+"/bundle:v1.0.0"); after != before {
		t.Errorf("the tag moved from %s to %s", before, after)
	}
	tag, _ := name.NewTag(to + "/charts/databasecluster-operator:1.0.0")
	if _, err := remote.Head(tag); err == nil {
		t.Error("the chart was pushed all the same")
	}
}

func TestAnImageThatIsNamedForAnotherPlaceIsRefused(t *testing.T) {
	to, requests := startRegistry(t, nil)
	for _, place := range []string{to + "-else", "registry.example.com/you"} {
		refused(t, "which is not below "+place, place, bundleImage(t, to, "one"))
	}
	if *requests != 0 {
		t.Errorf("%d requests were sent all the same", *requests)
	}
}

func TestAChartIsPushedAsHelmDoes(t *testing.T) {
	to, _ := startRegistry(t, nil)
	file := chartPackage(t, "1.0.0")
	mustPush(t, to, file)
	tag, err := name.NewTag(to + "/charts/databasecluster-operator:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(tag)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" {
		t.Errorf("the manifest is %+v", manifest)
	}
	config, err := image.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var metadata map[string]any
	if err := json.Unmarshal(config, &metadata); err != nil || metadata["name"] != "databasecluster-operator" {
		t.Errorf("the configuration is %s, and not its Chart.yaml (%v)", config, err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	there, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	if packed, err := os.ReadFile(file); err != nil || !bytes.Equal(there, packed) {
		t.Errorf("the layer is not the package (%v)", err)
	}
}

func TestTheCredentialsAreThoseOfDockerLogin(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("somebody:something"))
	folder, content := t.TempDir(), registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	t.Setenv("DOCKER_CONFIG", folder)
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Basic "+auth {
			response.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(response, request)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	files := []string{bundleImage(t, host+"/you", "one"), chartPackage(t, "1.0.0")}
	refused(t, "docker login", host+"/you", files...)
	config := `{"auths": {"` + host + `": {"auth": "` + auth + `"}}}`
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	mustPush(t, host+"/you", files...)
}

func TestAnUnreachableRegistryEndsThePush(t *testing.T) {
	wrote := false
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path == "/v2/":
		case request.Method == http.MethodHead || request.Method == http.MethodGet:
			response.WriteHeader(http.StatusForbidden)
		default:
			wrote = true
		}
	}))
	defer server.Close()
	to := strings.TrimPrefix(server.URL, "http://") + "/you"
	refused(t, "docker login", to, bundleImage(t, to, "one"))
	refused(t, "docker login", to, chartPackage(t, "1.0.0"))
	if wrote {
		t.Error("something was pushed all the same")
	}
}

func TestWhatIsNoReleaseFileIsRefusedByName(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.txt")
	outside := filepath.Join(folder, "outside.oci.tar")
	if err := os.WriteFile(text, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, archiveOf(t, "../index.json", "{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, outside, filepath.Join(folder, "absent.tgz")} {
		refused(t, "error: "+file, "registry.example.com/you", file)
	}
}

// push runs hack/push.sh and returns its output.
func push(t *testing.T, to string, files ...string) (string, error) {
	t.Helper()
	return run(t, root(t), []string{"HELM_CONFIG_HOME=" + t.TempDir()}, "hack/push.sh", append([]string{to}, files...)...)
}

func mustPush(t *testing.T, to string, files ...string) string {
	t.Helper()
	output, err := push(t, to, files...)
	if err != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	return output
}

func refused(t *testing.T, want, to string, files ...string) {
	t.Helper()
	if output, err := push(t, to, files...); err == nil || !strings.Contains(output, want) {
		t.Errorf("error is %v, want one and %q:\n%s", err, want, output)
	}
}

// startRegistry returns a repository prefix in a registry on loopback, and the number of its requests.
func startRegistry(t *testing.T, see func(*http.Request)) (string, *int) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	requests := 0
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		requests++
		if see != nil {
			see(request)
		}
		handler.ServeHTTP(response, request)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/you", &requests
}

func bundleImage(t *testing.T, to, content string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.CopyFS(folder, fstest.MapFS{
		"metadata/annotations.yaml":   {Data: []byte("annotations: {operators.operatorframework.io.bundle.package.v1: database}\n")},
		"manifests/csv.yaml":          {Data: []byte(content)},
		"tests/scorecard/config.yaml": {Data: []byte("{}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	dest := filepath.Join(t.TempDir(), "bundle.oci.tar")
	options := images.Options{Dest: dest, Reference: to + "/bundle:v1.0.0", From: folder}
	bundle := slices.IndexFunc(images.Kinds, func(kind images.Kind) bool { return kind.Name == "bundle" })
	if err := images.Kinds[bundle].Write(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return dest
}

func chartPackage(t *testing.T, version string) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	content := archiveOf(t, "databasecluster-operator/Chart.yaml", "apiVersion: v2\nname: databasecluster-operator\nversion: "+version+"\n")
	if _, err := zipped.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "chart.tgz")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func archiveOf(t *testing.T, path, content string) []byte {
	t.Helper()
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	if err := archive.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func digestThere(t *testing.T, reference string) string {
	t.Helper()
	return headOf(t, reference).Digest.String()
}
