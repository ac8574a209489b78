/*
SPDX-License-Identifier: Apache-2.0
*/

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestTheImageHasTheLabelsOfTheAnnotations(t *testing.T) {
	var file struct{ Annotations map[string]string }
	if err := yaml.Unmarshal([]byte(text(t, root+"/bundle/metadata/annotations.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for line := range strings.Lines(text(t, root+"/bundle.Dockerfile")) {
		if label, found := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); found {
			key, value, _ := strings.Cut(label, "=")
			labels[key] = value
		}
	}
	if !maps.Equal(labels, file.Annotations) {
		t.Errorf("bundle.Dockerfile has the labels\n%v\nand bundle/metadata/annotations.yaml\n%v", labels, file.Annotations)
	}
	for key, want := range map[string]string{
		"operators.operatorframework.io.bundle.mediatype.v1":       "registry+v1",
		"operators.operatorframework.io.bundle.package.v1":         "databasecluster-operator",
		"operators.operatorframework.io.bundle.channels.v1":        "candidate-v0,fast-v0,stable-v0",
		"operators.operatorframework.io.bundle.channel.default.v1": "stable-v0",
	} {
		if labels[key] != want {
			t.Errorf("%s is %q, want %q", key, labels[key], want)
		}
	}
}

// OLM or the catalogs reject other kinds.
func TestTheBundleHasKindsThatOLMInstalls(t *testing.T) {
	installs := map[string]bool{
		"ClusterServiceVersion": true, "CustomResourceDefinition": true, "ClusterRole": true, "Service": true, "PodDisruptionBudget": true,
	}
	for _, object := range load(t).Objects {
		if !installs[object.GetKind()] {
			t.Errorf("the bundle has the %s %s", object.GetKind(), object.GetName())
		}
		if object.GetNamespace() != "" && object.GetKind() != "ClusterServiceVersion" {
			t.Errorf("the %s %s names the namespace %s", object.GetKind(), object.GetName(), object.GetNamespace())
		}
	}
}

// OLM stores an unpacked bundle in a compressed ConfigMap, which is limited to 1 MiB.
func TestTheBundleFitsIntoAConfigMap(t *testing.T) {
	const limit = 1 << 20 * 85 / 100 // the threshold for warnings of operator-framework
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	if err := archive.AddFS(os.DirFS(root + "/bundle")); err != nil {
		t.Fatal(err)
	}
	for _, closer := range []io.Closer{archive, compressed} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if size := packed.Len(); size == 0 || size > limit {
		t.Errorf("the bundle has %d bytes compressed, want at most %d", size, limit)
	}
}
