package images

import (
	"cmp"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

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
	if opts.Version == "" || opts.Binary == "" {
		return errors.New("the image of the scorecard's tests needs --version, such as 0.1.0, and --binary scorecard=PATH")
	}
	reference := cmp.Or(opts.Reference, OperatorRepository+"-scorecard:v"+opts.Version)
	return scorecard("scorecard", "Tests of the databasecluster-operator for operator-sdk scorecard", reference, opts)
}

// ScorecardTest packs the tests that come with Operator SDK under the name by which a bundle asks for them.
func ScorecardTest(opts ScorecardOptions) error {
	reference := cmp.Or(opts.Reference, ScorecardTestRepository+":v"+opts.Version)
	return scorecard("scorecard-test", "The tests that come with operator-sdk scorecard", reference, opts)
}

// scorecard packs tests. Pods name the program without a path, and mount a folder at /scorecard.
func scorecard(program, description, reference string, opts ScorecardOptions) error {
	image, err := alone("bin/"+program, opts.Binary, v1.Config{
		Entrypoint: []string{"/bin/" + program},
		User:       "65532:65532",
		WorkingDir: "/",
		Env:        []string{"PATH=/bin"},
		Labels: map[string]string{
			labelTitle:       program,
			labelDescription: description,
			labelVersion:     opts.Version,
			labelLicenses:    "Apache-2.0",
		},
	})
	if err != nil {
		return err
	}
	return write(image, reference, opts.Dest)
}
