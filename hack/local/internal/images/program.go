package images

import (
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// alone packs one static program, at a path without the leading slash, into an image that holds nothing else but its
// accounts.
func alone(architecture, program, binary string, config v1.Config) (v1.Image, error) {
	if err := checkBinary(architecture, path.Base(program), binary); err != nil {
		return nil, err
	}
	layer, err := layerOf(append(accounts(), file{path: program, mode: 0o755, source: binary})...)
	if err != nil {
		return nil, err
	}
	return assembleFor(architecture, config, layer)
}
