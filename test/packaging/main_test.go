//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package packaging compares the Helm chart with golden files and config/default. `make helm-lint` runs it, because it
// needs helm and kustomize.
package packaging

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

const (
	chart = "../../charts/databasecluster-operator"
	// With this release name and namespace, the names equal those of config/default.
	release   = "databasecluster-operator"
	namespace = "databasecluster-operator-system"
)

var helm, kustomize = os.Getenv("DBC_HELM"), os.Getenv("DBC_KUSTOMIZE")

func TestMain(m *testing.M) {
	if helm == "" || kustomize == "" {
		fmt.Fprintln(os.Stderr, "packaging tests: DBC_HELM and DBC_KUSTOMIZE are not set: run `make helm-lint`, which sets both")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// template renders the chart; an error has the output of helm.
func template(arguments ...string) (string, error) {
	return run(append([]string{"template", release, chart, "--namespace", namespace}, arguments...)...)
}

func run(arguments ...string) (string, error) {
	command := exec.Command(helm, arguments...)
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s", strings.Join(arguments, " "), err, said.String())
	}
	return string(text), nil
}

func rendered(t *testing.T, arguments ...string) objects {
	t.Helper()
	text, err := template(arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

// configured returns config/default, with a unique image.
var configured = sync.OnceValues(func() ([]byte, error) {
	return exec.Command(kustomize, "build", "../../config/default").Output()
})

// objects by kind, namespace and name.
type objects map[string]*unstructured.Unstructured

func decode(t *testing.T, text string) objects {
	t.Helper()
	manifests, err := embedded.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	for _, object := range manifests {
		name := object.GetKind() + " " + strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
		if all[name] != nil {
			t.Errorf("there are two of %s", name)
		}
		all[name] = object
	}
	return all
}
