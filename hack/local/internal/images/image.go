// Package images assembles container images without a Docker daemon or a registry. Each
// image is written as a docker-archive tarball, the format that
// "ctr --namespace k8s.io images import" and "docker load" both take.
//
// Images are reproducible: entries are sorted, timestamps are fixed, and nothing of the
// machine that assembles them is recorded, so the same inputs give the same digest.
package images

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// Annotation keys of the OCI image specification that we set as labels.
const (
	labelTitle       = "org.opencontainers.image.title"
	labelDescription = "org.opencontainers.image.description"
	labelVersion     = "org.opencontainers.image.version"
	labelSource      = "org.opencontainers.image.source"
	labelLicenses    = "org.opencontainers.image.licenses"
)

// epoch is the timestamp of all files in an image: a real one would change the digest.
var epoch = time.Unix(0, 0).UTC()

// Options describe the content, the destination and the name of an image. Each kind of image uses some of them.
type Options struct {
	Repo      string // the checkout; empty: search for it
	Dest      string
	Reference string            // empty: the default name of the image
	Version   string            // without a leading v
	Binaries  map[string]string // name in the image, and path on this machine
	Platforms map[string]string // architecture, and the folder on this machine with its binaries
	From      string            // a bundle's folder, or a catalog's
	Packages  []string          // of Debian
}

// Kind is a kind of image that Write supports.
type Kind struct {
	Name, Flags string // the flags besides --out
	write       func(context.Context, Options) error
}

// Kinds are all kinds of images.
var Kinds = []Kind{
	{"pause", "", Pause},
	{"operator", "ref version binary", operator.write},
	{"operator-index", "ref version platform", operator.writeIndex},
	{"bundle", "ref from", bundleImage},
	{"catalog", "ref from", catalogImage},
	{"postgresql", "ref", postgreSQL.write},
	{"redis", "ref", redis.write},
	{"mariadb", "ref", mariaDB.write},
	{"patroni", "ref", patroni.write},
	{"pgbouncer", "ref", pgBouncer.write},
	{"etcd", "ref", etcd.write},
	{"memcached", "ref", memcached.write},
	{"debian", "ref packages", anyPackages},
	{"versitygw", "ref", versitygw.write},
	{"metrics-server", "ref", metricsServer.write},
	{"cloudnative-pg", "ref", cloudNativePG.write},
	{"cloudnative-pg-pgbouncer", "ref", cloudNativePGPooler.write},
	{"scorecard", "ref version binary", scorecard.write},
	{"scorecard-index", "ref version platform", scorecard.writeIndex},
	{"scorecard-test", "ref", scorecardTest.write},
}

// Write writes an image as a tarball: an index, a bundle or a catalog as an OCI layout, and others as a docker-archive.
func (k Kind) Write(ctx context.Context, opts Options) error {
	opts.Version = strings.TrimPrefix(opts.Version, "v")
	if err := k.write(ctx, opts); err != nil {
		return fmt.Errorf("image %s: %w", k.Name, err)
	}
	return nil
}

// assemble builds an image for an architecture. The configuration needs the OS and the architecture. Otherwise
// containerd ignores the image on import without an error.
func assemble(architecture string, config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(base, &v1.ConfigFile{
		Architecture: architecture,
		OS:           "linux",
		Created:      v1.Time{Time: epoch},
		Config:       config,
		RootFS:       v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, fmt.Errorf("set the image configuration: %w", err)
	}
	if image, err = mutate.AppendLayers(image, layers...); err != nil {
		return nil, fmt.Errorf("append the layers: %w", err)
	}
	return image, nil
}

// write writes the image as a docker-archive at dest, atomically.
func write(image v1.Image, reference, dest string) error {
	tag, err := parse(reference)
	if err != nil {
		return err
	}
	return files.Whole(dest, func(partial string) error { return tarball.WriteToFile(partial, tag, image) })
}

func parse(reference string) (name.Tag, error) {
	tag, err := name.NewTag(reference)
	if err != nil {
		return name.Tag{}, fmt.Errorf("image reference %q is not of the form name:tag: %w", reference, err)
	}
	return tag, nil
}
