package images

import (
	"cmp"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// VersitygwRepository is the name of the image of versitygw; its tag is the version.
const VersitygwRepository = "localhost/versitygw"

// VersitygwOptions say which binary the image holds and where it goes.
type VersitygwOptions struct {
	Options
	Binary  string // the pinned tool on this machine
	Version string // without a leading v
}

// Versitygw packs versitygw, an S3 server for tests. Its buckets are folders of /data; the keys of its
// administrator are ROOT_ACCESS_KEY_ID and ROOT_SECRET_ACCESS_KEY in the environment.
func Versitygw(opts VersitygwOptions) error {
	image, err := alone(runtime.GOARCH, "versitygw", opts.Binary, versitygwConfig(opts.Version))
	if err != nil {
		return err
	}
	return write(image, cmp.Or(opts.Reference, VersitygwRepository+":"+opts.Version), opts.Dest)
}

func versitygwConfig(version string) v1.Config {
	return v1.Config{
		Entrypoint:   []string{"/versitygw"},
		Cmd:          []string{"posix", "/data"},
		User:         "65532:65532",
		WorkingDir:   "/",
		ExposedPorts: map[string]struct{}{"7070/tcp": {}},
		Env:          []string{"PATH=/"},
		Labels: map[string]string{
			labelTitle:       "versitygw",
			labelDescription: "An S3 server over a folder, for tests",
			labelVersion:     version,
			labelSource:      "https://github.com/versity/versitygw",
			labelLicenses:    "Apache-2.0",
		},
	}
}
