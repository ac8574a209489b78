// Package publish pushes what a release holds to a registry: images in OCI layouts, and Helm charts.
package publish

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// artifact is something that a registry takes, and the name that it will have there.
type artifact struct {
	file    string
	tag     name.Tag
	digest  v1.Hash
	content remote.Taggable
}

// open reads a file of a release. What close removes, the artifact needs until it is pushed.
func open(file, to string) (found artifact, release func(), err error) {
	if strings.HasSuffix(file, ".tgz") {
		found, err = openChart(file, to)
		return found, func() {}, err
	}
	return openLayout(file)
}

// Digest is what a registry will call the image in an OCI layout: its digest.
func Digest(file string) (string, error) {
	found, release, err := openLayout(file)
	if err != nil {
		return "", err
	}
	release()
	return found.digest.String(), nil
}

// below says whether the artifact goes where the caller allowed.
func (a artifact) below(to string) error {
	inside, err := name.NewRepository(strings.TrimSuffix(to, "/") + "/inside")
	if err != nil {
		return fmt.Errorf("%q is no place in a registry, such as registry.example.com/you: %w", to, err)
	}
	if strings.HasPrefix(a.tag.Name(), strings.TrimSuffix(inside.Name(), "inside")) {
		return nil
	}
	return fmt.Errorf("%s is named %s, which is not below %s: make it with PUSH_TO=%[3]s, or what refers to it would not find it", a.file, a.tag.Name(), to)
}
