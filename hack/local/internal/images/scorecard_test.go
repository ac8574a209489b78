package images

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestScorecardTestsRunAsANumericUserAndAreFoundWithoutAPath(t *testing.T) {
	for program, pack := range map[string]program{"scorecard": scorecard, "scorecard-test": scorecardTest} {
		dest := filepath.Join(t.TempDir(), "image.tar")
		if err := pack.write(t.Context(), Options{Dest: dest, Binaries: map[string]string{pack.binaries[0]: staticBinary(t)}, Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		config := configOf(t, load(t, dest)).Config
		if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/bin/" + program}) || !slices.Contains(config.Env, "PATH=/bin") {
			t.Errorf("%s starts %q as %q with %q", program, config.Entrypoint, config.User, config.Env)
		}
		if got := listing(t, load(t, dest)); !slices.Contains(got, "0755 0:0 /bin/"+program) {
			t.Errorf("the image holds %q", got)
		}
	}
}

func TestScorecardImagesBearTheNamesThatTheBundleHasForThem(t *testing.T) {
	for want, pack := range map[string]program{
		"ghcr.io/dbcluster/databasecluster-operator-scorecard:v1.2.3": scorecard,
		"quay.io/operator-framework/scorecard-test:v1.2.3":            scorecardTest,
	} {
		dest := filepath.Join(t.TempDir(), "image.tar")
		if err := pack.write(t.Context(), Options{Dest: dest, Binaries: map[string]string{pack.binaries[0]: staticBinary(t)}, Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(dest) })
		if err != nil {
			t.Fatal(err)
		}
		if got := manifest[0].RepoTags; !slices.Equal(got, []string{want}) {
			t.Errorf("the image is called %q, want %s", got, want)
		}
	}
}

func TestAScorecardWithoutAVersionOrABinaryIsRefused(t *testing.T) {
	for want, opts := range map[string]Options{
		"--binary scorecard=PATH": {Version: "1.2.3"}, "--version": {Binaries: map[string]string{"scorecard": staticBinary(t)}},
	} {
		opts.Dest = filepath.Join(t.TempDir(), "image.tar")
		if err := scorecard.write(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v", err)
		}
	}
}
