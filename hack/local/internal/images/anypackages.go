package images

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// packageName matches the names of Debian's packages. The names become words of a shell script.
var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

// anyPackages is an image of packages that the caller names, for an engine of the caller's own.
func anyPackages(ctx context.Context, opts Options) error {
	image, err := recipeOf(opts)
	if err != nil {
		return err
	}
	return image.write(ctx, opts)
}

func recipeOf(opts Options) (recipe, error) {
	if opts.Reference == "" || len(opts.Packages) == 0 {
		return recipe{},
			errors.New("the image needs a name and packages: give --ref, such as localhost/mydb:1, and --packages, such as mydb-server,mydb-client")
	}
	for _, name := range opts.Packages {
		if !packageName.MatchString(name) {
			return recipe{}, fmt.Errorf("--packages: %q is no name of a Debian package: use lower case letters, digits, '+', '-' and '.'", name)
		}
	}
	first := opts.Packages[0]
	return recipe{
		server:    first,
		release:   trixie,
		pkg:       first,
		reference: opts.Reference,
		provision: "\nadd_user dbcuser /nonexistent\nadd_packages " + strings.Join(opts.Packages, " ") + "\nrm -rf /run/* /tmp/*\n",
		config: v1.Config{
			Env:    []string{systemPath, "LANG=C.UTF-8"},
			Labels: map[string]string{labelDescription: strings.Join(opts.Packages, ", ") + " from Debian's packages"},
		},
	}, nil
}
