//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// installCRDs installs CRDs of another project: files or folders of a module that a tool of hack/tools pins.
func installCRDs(t *testing.T, tool, path string, files ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", path)
	command.Dir = filepath.Join("../../hack/tools", tool)
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DBC_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	crds := envtest.CRDInstallOptions{ErrorIfPathMissing: true}
	for _, file := range files {
		crds.Paths = append(crds.Paths, filepath.Join(module.Dir, file))
	}
	if _, err := envtest.InstallCRDs(config, crds); err != nil {
		t.Fatal(err)
	}
}
