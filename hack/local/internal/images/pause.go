package images

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// PauseReference is the name of the pause image. containerd's sandbox_image must be the same.
const PauseReference = "localhost/pause:local"

// The binary embeds the source, so that it can build the image in any folder.
//
//go:embed pause/main.go
var pauseSource []byte

// Pause compiles the pause program and writes its image.
func Pause(ctx context.Context, opts Options) error {
	folder, err := os.MkdirTemp("", "pause-")
	if err != nil {
		return fmt.Errorf("create a folder to build pause: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary, err := buildPause(ctx, folder)
	if err != nil {
		return err
	}
	layer, err := layerOf(file{path: "pause", mode: 0o755, source: binary})
	if err != nil {
		return err
	}
	labels := map[string]string{labelTitle: "pause"}
	image, err := assemble(runtime.GOARCH, v1.Config{Entrypoint: []string{"/pause"}, User: "65535:65535", Labels: labels}, layer)
	if err != nil {
		return err
	}
	return write(image, PauseReference, opts.Dest)
}

func buildPause(ctx context.Context, folder string) (string, error) {
	source, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "pause")
	if err := os.WriteFile(source, pauseSource, 0o600); err != nil {
		return "", fmt.Errorf("write the source of pause: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", binary, source)
	build.Dir = folder
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build pause: %w\n%s", err, output)
	}
	return binary, nil
}
