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
	for program, pack := range map[string]func(ScorecardOptions) error{"scorecard": Scorecard, "scorecard-test": ScorecardTest} {
		dest := filepath.Join(t.TempDir(), "image.tar")
		if err := pack(ScorecardOptions{Options: Options{Dest: dest}, Binary: staticBinary(t), Version: "1.2.3"}); err != nil {
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
	for want, pack := range map[string]func(ScorecardOptions) error{
		"ghcr.io/dbcluster/databasecluster-operator-scorecard:v1.2.3": Scorecard,
		"quay.io/operator-framework/scorecard-test:v1.2.3":            ScorecardTest,
	} {
		dest := filepath.Join(t.TempDir(), "image.tar")
		if err := pack(ScorecardOptions{Options: Options{Dest: dest}, Binary: staticBinary(t), Version: "1.2.3"}); err != nil {
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
	for _, opts := range []ScorecardOptions{{Version: "1.2.3"}, {Binary: staticBinary(t)}} {
		opts.Dest = filepath.Join(t.TempDir(), "image.tar")
		if err := Scorecard(opts); err == nil || !strings.Contains(err.Error(), "--version") {
			t.Errorf("the error is %v", err)
		}
	}
}
