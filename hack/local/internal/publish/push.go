package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// Push puts the files below the given place of a registry, such as registry.example.com/you, and returns what
// they are called there, each with its digest. Before the first byte goes out, every file is read and every tag looked
// up: a tag that is there already with other content is a release that somebody has, and is refused. Credentials
// are those of "docker login".
func Push(ctx context.Context, to string, files []string) ([]string, error) {
	artifacts, release, err := openAll(to, files)
	defer release()
	if err != nil {
		return nil, err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	var names []string
	var missing []artifact
	for _, a := range artifacts {
		there, err := a.isThere(options)
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, a)
		}
		names = append(names, a.tag.Name()+"@"+a.digest.String())
	}
	for _, a := range missing {
		if err := a.push(options); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// openAll returns what removes all that it unpacked, also where it fails.
func openAll(to string, files []string) (found []artifact, release func(), err error) {
	var releases []func()
	release = func() {
		for _, each := range releases {
			each()
		}
	}
	for _, file := range files {
		opened, each, err := open(file, to)
		if err != nil {
			return nil, release, err
		}
		releases = append(releases, each)
		if err := opened.below(to); err != nil {
			return nil, release, err
		}
		found = append(found, opened)
	}
	return found, release, nil
}

// isThere looks the tag up. An answer that is neither yes nor no ends the push.
func (a artifact) isThere(options []remote.Option) (bool, error) {
	there, err := remote.Head(a.tag, options...)
	var answer *transport.Error
	switch {
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask for %s before pushing %s (is \"docker login %s\" done, and is the repository there where it must be made first?): %w",
			a.tag.Name(), a.file, a.tag.RegistryStr(), err)
	case there.Digest != a.digest:
		return false, fmt.Errorf("%s is already there as %s, and %s is %s: what was released is never changed, so release another version",
			a.tag.Name(), there.Digest, a.file, a.digest)
	}
	progress.Say("%s is there already", a.tag.Name())
	return true, nil
}

func (a artifact) push(options []remote.Option) error {
	return progress.Step("pushing "+a.tag.Name(), func() error {
		if err := remote.Push(a.tag, a.content, options...); err != nil {
			return fmt.Errorf("push %s to %s: %w", a.file, a.tag.Name(), err)
		}
		return nil
	})
}
