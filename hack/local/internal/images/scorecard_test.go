package images

import (
	"slices"
	"testing"
)

func TestScorecardTestsRunAsANumericUserAndAreFoundWithoutAPath(t *testing.T) {
	for program, pack := range map[string]program{"scorecard": scorecard, "scorecard-test": scorecardTest} {
		image := written(t, pack.write, Options{Binaries: map[string]string{pack.binaries[0]: staticBinary(t)}, Version: "1.2.3"})
		config := configOf(t, image).Config
		if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/bin/" + program}) || !slices.Contains(config.Env, "PATH=/bin") {
			t.Errorf("%s starts %q as %q with %q", program, config.Entrypoint, config.User, config.Env)
		}
		if got := listing(t, image); !slices.Contains(got, "0755 0:0 /bin/"+program) {
			t.Errorf("the image holds %q", got)
		}
	}
}

func TestScorecardImagesHaveTheNamesInTheBundle(t *testing.T) {
	for want, pack := range map[string]program{
		"ghcr.io/dbcluster/databasecluster-operator-scorecard:v1.2.3": scorecard,
		"quay.io/operator-framework/scorecard-test:v1.2.3":            scorecardTest,
	} {
		checkName(t, want, pack.write, Options{Binaries: map[string]string{pack.binaries[0]: staticBinary(t)}, Version: "1.2.3"})
	}
}

func TestAScorecardWithoutAVersionOrABinaryIsRefused(t *testing.T) {
	for want, opts := range map[string]Options{
		"--binary scorecard=PATH": {Version: "1.2.3"}, "--version": {Binaries: map[string]string{"scorecard": staticBinary(t)}},
	} {
		refused(t, want, scorecard.write, opts)
	}
}
