package images

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// IndexOptions say what an image holds for each architecture and where it goes.
type IndexOptions struct {
	Dest      string
	Reference string            // the image's own repository and v<Version> when empty
	Version   string            // without a leading v
	Platforms map[string]string // architecture, and the folder on this machine with its binaries
}

// OperatorIndex writes the operator's image for several architectures as an OCI layout. Nothing of it
// is run, so it makes images for machines that this one is not.
func OperatorIndex(opts IndexOptions) error {
	return writeIndex(opts, OperatorRepository, operatorOf)
}

// ScorecardIndex writes the image of the operator's own scorecard tests for several architectures.
func ScorecardIndex(opts IndexOptions) error {
	return writeIndex(opts, ScorecardRepository, scorecardOf)
}

// platformImage makes the image of one architecture from the folder with its binaries.
type platformImage func(architecture, version, folder string) (v1.Image, error)

func operatorOf(architecture, version, folder string) (v1.Image, error) {
	return operatorImage(architecture, version, map[string]string{
		"manager": filepath.Join(folder, "manager"), "transfer": filepath.Join(folder, "transfer"),
	})
}

func scorecardOf(architecture, version, folder string) (v1.Image, error) {
	return scorecardImage(architecture, version, filepath.Join(folder, "scorecard"))
}

func writeIndex(opts IndexOptions, repository string, image platformImage) error {
	index, err := indexOf(opts, image)
	if err != nil {
		return err
	}
	return writeLayout(index, cmp.Or(opts.Reference, repository+":v"+opts.Version), opts.Dest)
}

func indexOf(opts IndexOptions, image platformImage) (v1.ImageIndex, error) {
	if len(opts.Platforms) == 0 {
		return nil, errors.New("the index names no architecture: give --platform, such as arm64=bin/linux-arm64")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range slices.Sorted(maps.Keys(opts.Platforms)) {
		if _, known := machines[architecture]; !known {
			return nil, fmt.Errorf("linux/%s: this architecture is not one of %q", architecture, slices.Sorted(maps.Keys(machines)))
		}
		made, err := image(architecture, opts.Version, opts.Platforms[architecture])
		if err != nil {
			return nil, fmt.Errorf("linux/%s: %w", architecture, err)
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: made, Descriptor: platform})
	}
	return index, nil
}
