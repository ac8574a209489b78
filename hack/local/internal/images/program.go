package images

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
)

// OperatorRepository is the repository of the operator image.
const OperatorRepository = "ghcr.io/dbcluster/databasecluster-operator"

// machines are the supported architectures.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// program is an image that contains only static programs and a user.
type program struct {
	name     string   // of the image; its version follows
	binaries []string // the programs that the image needs, the first of them its entrypoint
	tool     bool     // the program is a pinned tool, built unless --binary is set
	folder   string   // in the image, with a slash at the end; its root when empty
	paths    []string // in the image, of the only program; folder and its name when empty
	files    []file
	config   v1.Config // without what all share
}

var (
	operator = program{
		name: OperatorRepository + ":v", binaries: []string{"manager", "transfer"},
		files: []file{{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: authorities()}},
		config: v1.Config{
			Env: []string{"PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			Labels: map[string]string{
				labelTitle: "databasecluster-operator", labelDescription: "Runs stateful databases on Kubernetes",
				labelSource: "https://github.com/dbcluster/databasecluster-operator",
			},
		},
	}
	// Pods run the scorecard programs without a path, and mount a folder at /scorecard.
	scorecard = program{
		name: OperatorRepository + "-scorecard:v", binaries: []string{"scorecard"}, folder: "bin/",
		config: v1.Config{
			Env:    []string{"PATH=/bin"},
			Labels: map[string]string{labelTitle: "scorecard", labelDescription: "Tests of the databasecluster-operator for operator-sdk scorecard"},
		},
	}
	// The tag of the tests of Operator SDK in the bundle is the version of Operator SDK.
	scorecardTest = program{
		name: "quay.io/operator-framework/scorecard-test:v", binaries: []string{"scorecard-test"}, tool: true, folder: "bin/",
		config: v1.Config{
			Env:    []string{"PATH=/bin"},
			Labels: map[string]string{labelTitle: "scorecard-test", labelDescription: "The tests that come with operator-sdk scorecard"},
		},
	}
	// versitygw is an S3 server for tests. Its buckets are folders of /data; the keys of its administrator are
	// ROOT_ACCESS_KEY_ID and ROOT_SECRET_ACCESS_KEY in the environment.
	versitygw = program{
		name: "localhost/versitygw:", binaries: []string{"versitygw"}, tool: true,
		config: v1.Config{
			Cmd: []string{"posix", "/data"}, ExposedPorts: map[string]struct{}{"7070/tcp": {}}, Env: []string{"PATH=/"},
			Labels: map[string]string{
				labelTitle: "versitygw", labelDescription: "An S3 server over a folder, for tests", labelSource: "https://github.com/versity/versitygw",
			},
		},
	}
	// metricsServer serves the CPU and memory of pods, which a HorizontalPodAutoscaler reads.
	metricsServer = program{
		name: "localhost/metrics-server:", binaries: []string{"metrics-server"}, tool: true,
		config: v1.Config{
			Env: []string{"PATH=/"},
			Labels: map[string]string{
				labelTitle: "metrics-server", labelDescription: "The resource metrics of pods, for tests",
				labelSource: "https://github.com/kubernetes-sigs/metrics-server",
			},
		},
	}
	// cloudNativePG is an operator that a benchmark compares with. Its manifests start /manager, and it looks for the programs that it
	// copies into pods in the other folder.
	cloudNativePG = program{
		name: "ghcr.io/cloudnative-pg/cloudnative-pg:", binaries: []string{"cnpg-manager"}, tool: true,
		paths: []string{"manager", "operator/manager_" + runtime.GOARCH},
		config: v1.Config{
			Env: []string{"PATH=/"},
			Labels: map[string]string{
				labelTitle: "cloudnative-pg", labelDescription: "The operator CloudNativePG, for benchmarks",
				labelSource: "https://github.com/cloudnative-pg/cloudnative-pg",
			},
		},
	}
)

// write writes the image for the architecture of this machine.
func (p program) write(ctx context.Context, opts Options) error {
	if p.tool && opts.Binaries == nil {
		tools, err := build.All(ctx, opts.Repo, p.binaries...)
		if err != nil {
			return err
		}
		tool := tools[p.binaries[0]]
		opts.Version, opts.Binaries = strings.TrimPrefix(tool.Version, "v"), map[string]string{tool.Name: tool.Path}
	}
	image, err := p.image(runtime.GOARCH, opts.Version, opts.Binaries)
	if err != nil {
		return err
	}
	return write(image, p.reference(opts), opts.Dest)
}

// writeIndex writes the image for several architectures as an OCI layout. It runs no program, so it can build images
// for other machines.
func (p program) writeIndex(_ context.Context, opts Options) error {
	index, err := p.index(opts)
	if err != nil {
		return err
	}
	return writeLayout(index, p.reference(opts), opts.Dest)
}

func (p program) reference(opts Options) string { return cmp.Or(opts.Reference, p.name+opts.Version) }

func (p program) image(architecture, version string, binaries map[string]string) (v1.Image, error) {
	if version == "" {
		return nil, errors.New("the image has no version: give --version, such as 0.1.0")
	}
	files := append(accounts(), p.files...)
	for _, name := range p.binaries {
		if binaries[name] == "" {
			return nil, fmt.Errorf("the image needs a binary named %[1]s: give --binary %[1]s=PATH", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(binaries)) {
		if err := checkBinary(architecture, name, binaries[name]); err != nil {
			return nil, err
		}
		for _, path := range p.placesOf(name) {
			files = append(files, file{path: path, mode: 0o755, source: binaries[name]})
		}
	}
	layer, err := layerOf(files...)
	if err != nil {
		return nil, err
	}
	config := p.config
	config.Entrypoint, config.User, config.WorkingDir = []string{"/" + p.placesOf(p.binaries[0])[0]}, "65532:65532", "/"
	config.Labels = maps.Clone(config.Labels)
	config.Labels[labelVersion], config.Labels[labelLicenses] = version, "Apache-2.0"
	return assemble(architecture, config, layer)
}

// placesOf returns the paths of a program in the image.
func (p program) placesOf(name string) []string {
	if len(p.paths) > 0 {
		return p.paths
	}
	return []string{p.folder + name}
}

func (p program) index(opts Options) (v1.ImageIndex, error) {
	if len(opts.Platforms) == 0 {
		return nil, errors.New("the index names no architecture: give --platform, such as arm64=bin/linux-arm64")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range slices.Sorted(maps.Keys(opts.Platforms)) {
		if _, known := machines[architecture]; !known {
			return nil, fmt.Errorf("linux/%s: this architecture is not one of %q", architecture, slices.Sorted(maps.Keys(machines)))
		}
		binaries := map[string]string{}
		for _, name := range p.binaries {
			binaries[name] = filepath.Join(opts.Platforms[architecture], name)
		}
		image, err := p.image(architecture, opts.Version, binaries)
		if err != nil {
			return nil, fmt.Errorf("linux/%s: %w", architecture, err)
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: platform})
	}
	return index, nil
}

// authorities are Mozilla's certificate authorities, as pinned in go.mod. Those of the build machine would change the
// digest. Authorities with a trust limit by date are omitted, because a certificate file cannot express the limit.
func authorities() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			file.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return file.Bytes()
}

// accounts are the users and groups of an image with static binaries only.
func accounts() []file {
	return []file{
		{path: "etc/passwd", mode: 0o644, body: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{path: "etc/group", mode: 0o644, body: []byte("root:x:0:\nnonroot:x:65532:\n")},
	}
}

// checkBinary rejects programs that cannot start in an image of that architecture without a loader and libraries.
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
