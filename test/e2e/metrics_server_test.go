//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var metricsImage = newImage("metrics-server", "localhost/metrics-server:0.9.0", "METRICS_SERVER_IMG")

// startMetricsServer runs metrics-server with its own manifests. It verifies the kubelet by the CA of the cluster.
func (w world) startMetricsServer() {
	w.Helper()
	if onAnotherCluster {
		if w.kubectl("get", "apiservice", "v1beta1.metrics.k8s.io", "--ignore-not-found", "-o", "name") == "" {
			w.Skip("needs metrics-server, which this cluster does not have")
		}
		return
	}
	name, tag, _ := strings.Cut(w.needs(metricsImage), ":")
	command := exec.CommandContext(w.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/metrics-server")
	command.Dir = "../../hack/tools/metrics-server"
	text, err := command.Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(text, &module) != nil {
		w.Fatal(err, string(text))
	}
	folder := w.TempDir()
	base, err := filepath.Rel(folder, filepath.Join(module.Dir, "manifests", "base"))
	if err != nil {
		w.Fatal(err)
	}
	overlay := fmt.Sprintf(`
resources: [%s]
images: [{name: gcr.io/k8s-staging-metrics-server/metrics-server, newName: %s, newTag: %q}]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --metric-resolution=10s}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --kubelet-request-timeout=8s}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --kubelet-certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt}
`, base, name, tag)
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		w.Fatal(err)
	}
	w.kubectl("apply", "-k", folder)
	w.kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout="+patience.String())
}
