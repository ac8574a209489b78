package images

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// OperatorRepository is where the operator's image is published.
const OperatorRepository = "ghcr.io/dbcluster/databasecluster-operator"

// machines are the architectures that the operator's image exists for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// OperatorOptions say what the operator's image holds and where it goes.
type OperatorOptions struct {
	Dest      string
	Reference string            // OperatorRepository:v<Version> when empty
	Version   string            // without a leading v
	Binaries  map[string]string // name in the image's root folder, and path on this machine
}

// Operator packs binaries that are already built, statically linked, into an image with
// nothing else but a user and certificate authorities.
func Operator(opts OperatorOptions) error {
	image, err := operatorImage(runtime.GOARCH, opts.Version, opts.Binaries)
	if err != nil {
		return err
	}
	return write(image, cmp.Or(opts.Reference, OperatorRepository+":v"+opts.Version), opts.Dest)
}

func operatorImage(architecture, version string, binaries map[string]string) (v1.Image, error) {
	if version == "" {
		return nil, errors.New("the operator's image needs a version: give --version, such as 0.1.0")
	}
	files, err := operatorFiles(architecture, binaries)
	if err != nil {
		return nil, err
	}
	layer, err := layerOf(files...)
	if err != nil {
		return nil, err
	}
	return assembleFor(architecture, operatorConfig(version), layer)
}

func operatorFiles(architecture string, binaries map[string]string) ([]file, error) {
	for _, name := range []string{"manager", "transfer"} {
		if binaries[name] == "" {
			return nil, fmt.Errorf("the operator's image needs a binary named %[1]s: give %[1]s=PATH", name)
		}
	}
	files := accounts()
	for _, name := range slices.Sorted(maps.Keys(binaries)) {
		if err := checkBinary(architecture, name, binaries[name]); err != nil {
			return nil, err
		}
		files = append(files, file{path: name, mode: 0o755, source: binaries[name]})
	}
	return append(files, file{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: authorities()}), nil
}

// accounts are the users and groups of an image that holds nothing but static binaries.
func accounts() []file {
	return []file{
		{path: "etc/passwd", mode: 0o644, body: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{path: "etc/group", mode: 0o644, body: []byte("root:x:0:\nnonroot:x:65532:\n")},
	}
}

// checkBinary refuses what would not start in an image of that architecture without a loader and libraries.
func checkBinary(architecture, name, path string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("binary %q: the name is that of a file in the image's root folder, without a slash", name)
	}
	binary, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("binary %s=%s is no Linux program: build it with GOOS=linux: %w", name, path, err)
	}
	defer func() { _ = binary.Close() }()
	if binary.Machine != machines[architecture] {
		return fmt.Errorf("binary %s=%s is made for %s: build it with GOARCH=%s", name, path, binary.Machine, architecture)
	}
	for _, segment := range binary.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("binary %s=%s is linked dynamically: build it with CGO_ENABLED=0", name, path)
		}
	}
	return nil
}

func operatorConfig(version string) v1.Config {
	return v1.Config{
		Entrypoint: []string{"/manager"},
		User:       "65532:65532",
		WorkingDir: "/",
		Env:        []string{"PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		Labels: map[string]string{
			labelTitle:       "databasecluster-operator",
			labelDescription: "Runs stateful databases on Kubernetes",
			labelVersion:     version,
			labelSource:      "https://github.com/dbcluster/databasecluster-operator",
			labelLicenses:    "Apache-2.0",
		},
	}
}
