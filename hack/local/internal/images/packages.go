package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

// labelConfigs is the label with the folder of the catalog in a catalog image.
const labelConfigs = "operators.operatorframework.io.index.configs.v1"

// bundleImage packs an OLM bundle like bundle.Dockerfile: its folders from scratch, its annotations as labels.
func bundleImage(_ context.Context, opts Options) error {
	labels, err := annotationsOf(opts.From)
	if err != nil {
		return err
	}
	var files []file
	for _, folder := range []string{"manifests", "metadata", "tests/scorecard"} {
		found, err := filesBelow(filepath.Join(opts.From, folder), folder)
		if err != nil {
			return fmt.Errorf("read the bundle %s: %w", opts.From, err)
		}
		files = append(files, found...)
	}
	return writePackage(opts, labels, files)
}

// catalogImage packs a file-based catalog for OLM to extract. It contains no program.
func catalogImage(_ context.Context, opts Options) error {
	files, err := filesBelow(opts.From, "configs")
	if err != nil {
		return fmt.Errorf("read the catalog %s: %w", opts.From, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("the catalog %s holds no file: run make catalog", opts.From)
	}
	return writePackage(opts, map[string]string{labelConfigs: "/configs"}, files)
}

// writePackage writes one image for all platforms, not an index: it contains no program.
func writePackage(opts Options, labels map[string]string, files []file) error {
	if opts.Reference == "" || opts.From == "" {
		return errors.New("the image needs a name and a folder: give --ref, such as registry.example.com/you/name:v1.0.0, and --from")
	}
	layer, err := layerOf(files...)
	if err != nil {
		return err
	}
	image, err := assemble("amd64", v1.Config{Labels: labels}, layer)
	if err != nil {
		return err
	}
	return writeLayout(image, opts.Reference, opts.Dest)
}

func annotationsOf(bundle string) (map[string]string, error) {
	path := filepath.Join(bundle, "metadata", "annotations.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no bundle: %w", bundle, err)
	}
	var metadata struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(content, &metadata); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(metadata.Annotations) == 0 {
		return nil, fmt.Errorf("%s holds no annotations, and a bundle image is known by them: run make bundle", path)
	}
	return metadata.Annotations, nil
}
