package images

import (
	"context"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layerOfTree packs a folder with its owners, modes and links, but with fixed times, by GNU tar, which a Debian has. Devices
// are left out: a container is given its own.
func layerOfTree(ctx context.Context, root string) (v1.Layer, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	arguments := []string{
		"--create", "--file", root + ".tar", "--directory", root, "--sort=name", "--mtime=@0", "--numeric-owner", "--hard-dereference",
		"--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime", "--exclude=dev/*",
	}
	for _, entry := range entries {
		arguments = append(arguments, entry.Name())
	}
	if err := run(ctx, "tar", arguments...); err != nil {
		return nil, err
	}
	return tarball.LayerFromFile(root+".tar", tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}
