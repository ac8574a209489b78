package images

import (
	"cmp"
	"errors"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ScorecardRepository is where the operator's own scorecard tests are published.
const ScorecardRepository = OperatorRepository + "-scorecard"

// ScorecardTestRepository is where the scorecard's own tests are published; the tag is the version of Operator SDK.
const ScorecardTestRepository = "quay.io/operator-framework/scorecard-test"

// ScorecardOptions say which binary an image of scorecard tests holds and where it goes.
type ScorecardOptions struct {
	Options
	Binary  string
	Version string // without a leading v
}

// Scorecard packs the scorecard tests of the operator.
func Scorecard(opts ScorecardOptions) error {
	image, err := scorecardImage(runtime.GOARCH, opts.Version, opts.Binary)
	if err != nil {
		return err
	}
	return write(image, cmp.Or(opts.Reference, ScorecardRepository+":v"+opts.Version), opts.Dest)
}

func scorecardImage(architecture, version, binary string) (v1.Image, error) {
	if version == "" || binary == "" {
		return nil, errors.New("the image of the scorecard's tests needs --version, such as 0.1.0, and --binary scorecard=PATH")
	}
	config := scorecardConfig("scorecard", "Tests of the databasecluster-operator for operator-sdk scorecard", version)
	return alone(architecture, "bin/scorecard", binary, config)
}

// ScorecardTest packs the tests that come with Operator SDK under the name by which a bundle asks for them.
func ScorecardTest(opts ScorecardOptions) error {
	config := scorecardConfig("scorecard-test", "The tests that come with operator-sdk scorecard", opts.Version)
	image, err := alone(runtime.GOARCH, "bin/scorecard-test", opts.Binary, config)
	if err != nil {
		return err
	}
	return write(image, cmp.Or(opts.Reference, ScorecardTestRepository+":v"+opts.Version), opts.Dest)
}

// scorecardConfig is that of an image of tests. Pods name the program without a path, and mount a folder at /scorecard.
func scorecardConfig(program, description, version string) v1.Config {
	return v1.Config{
		Entrypoint: []string{"/bin/" + program},
		User:       "65532:65532",
		WorkingDir: "/",
		Env:        []string{"PATH=/bin"},
		Labels: map[string]string{
			labelTitle:       program,
			labelDescription: description,
			labelVersion:     version,
			labelLicenses:    "Apache-2.0",
		},
	}
}
