package publish

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// Media types by which Helm knows a chart in a registry.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// openChart makes of a packaged chart what "helm push" would: it goes to <to>/charts/<name>, as
// <to>/<name> is the image's.
func openChart(file, to string) (artifact, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return artifact{}, fmt.Errorf("read the chart: %w", err)
	}
	chart, err := chartOf(content)
	if err != nil {
		return artifact{}, fmt.Errorf("%s is no Helm chart: %w", file, err)
	}
	// A tag has no plus sign; Helm writes and reads an underscore in its place.
	tag, err := name.NewTag(strings.TrimSuffix(to, "/")+"/charts/"+chart.name+":"+strings.ReplaceAll(chart.version, "+", "_"), name.StrictValidation)
	if err != nil {
		return artifact{}, fmt.Errorf("name the chart %s: %w", file, err)
	}
	image, err := chart.image(content)
	if err != nil {
		return artifact{}, fmt.Errorf("make an OCI artifact of %s: %w", file, err)
	}
	digest, err := image.Digest()
	return artifact{file: file, tag: tag, digest: digest, content: image}, err
}

// chart is what its Chart.yaml says.
type chart struct {
	name, version string
	config        []byte // Chart.yaml as JSON
}

func chartOf(packed []byte) (chart, error) {
	content, err := chartFile(packed)
	if err != nil {
		return chart{}, err
	}
	config, err := yaml.YAMLToJSON(content)
	if err != nil {
		return chart{}, fmt.Errorf("read its Chart.yaml: %w", err)
	}
	var metadata struct{ Name, Version string }
	if err := json.Unmarshal(config, &metadata); err != nil {
		return chart{}, fmt.Errorf("read its Chart.yaml: %w", err)
	}
	return chart{metadata.Name, metadata.Version, config}, nil
}

// chartFile is the Chart.yaml of the chart itself: a dependency's stands deeper.
func chartFile(packed []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it holds no Chart.yaml")
		}
		if err != nil {
			return nil, err
		}
		if matched, _ := path.Match("*/Chart.yaml", header.Name); matched {
			return io.ReadAll(archive)
		}
	}
}

func (c chart) image(packed []byte) (v1.Image, error) {
	config, content := static.NewLayer(c.config, chartConfig), static.NewLayer(packed, chartContent)
	described := make([]v1.Descriptor, 0, 2)
	for _, layer := range []v1.Layer{config, content} {
		descriptor, err := partial.Descriptor(layer)
		if err != nil {
			return nil, err
		}
		described = append(described, *descriptor)
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: described[0], Layers: described[1:],
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(chartImage{manifest, c.config, content})
}

// chartImage is an image whose configuration is a Chart.yaml.
type chartImage struct {
	manifest, config []byte
	content          v1.Layer
}

// MediaType is that of every OCI image.
func (i chartImage) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest names configuration and package.
func (i chartImage) RawManifest() ([]byte, error) { return i.manifest, nil }

// RawConfigFile is the Chart.yaml as JSON.
func (i chartImage) RawConfigFile() ([]byte, error) { return i.config, nil }

// LayerByDigest returns the one layer that there is.
func (i chartImage) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return i.content, nil }
