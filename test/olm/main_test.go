//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package olm tests Operator Lifecycle Manager: users install, upgrade and remove the operator with a Subscription. OLM
// runs as programs on this machine, against a real node with real databases. `make e2e-olm` runs it.
package olm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operator-framework/api/crds"
	"sigs.k8s.io/yaml"
)

const (
	operator   = "databasecluster-operator"
	deployment = "deployment/databasecluster-operator-controller-manager"
	// global is the namespace of catalogs for all namespaces.
	global = "olm"
	// patience is the time limit of a wait. It is not a measurement.
	patience = 5 * time.Minute
)

// version is the current version and previous the previous release. next is not a release: it is the current bundle
// with a higher version.
var (
	version, previous = os.Getenv("DBC_TEST_VERSION"), os.Getenv("DBC_TEST_PREVIOUS")
	postgresImage     = os.Getenv("DBC_TEST_POSTGRES_IMG")
)

const next = "0.99.0-synthetic"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run starts OLM for the tests. Its programs end with the tests.
func run(m *testing.M) int {
	kubeconfig := os.Getenv("DBC_TEST_KUBECONFIG")
	if kubeconfig == "" || version == "" || previous == "" || postgresImage == "" {
		fmt.Fprintln(os.Stderr, "tests of OLM: run `make e2e-olm`, which starts a node")
		return 1
	}
	logs, err := os.MkdirTemp("", "e2e-olm-")
	if err == nil {
		err = os.Setenv("KUBECONFIG", kubeconfig)
	}
	if err == nil {
		err = installOLM()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests of OLM:", err)
		return 1
	}
	// Both use :8080 for metrics, which the tests do not read. catalog logs that the port is in use, and continues.
	stopOLM, err := start(logs, "olm", "--namespace="+global, "--interval=10s")
	if err == nil {
		defer stopOLM()
		var stopCatalog func()
		if stopCatalog, err = start(logs, "catalog", "--namespace="+global, "--interval=10s",
			"--util-image=none.invalid/util:1", "--opmImage=none.invalid/opm:1"); err == nil {
			defer stopCatalog()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests of OLM:", err)
		return 1
	}
	fmt.Println("OLM's own logs are in", logs)
	return m.Run()
}

// installOLM creates the kinds and the namespace of OLM.
func installOLM() error {
	var text strings.Builder
	for _, crd := range []any{
		crds.CatalogSource(), crds.ClusterServiceVersion(), crds.InstallPlan(), crds.OLMConfig(),
		crds.OperatorCondition(), crds.OperatorGroup(), crds.Operator(), crds.Subscription(),
	} {
		one, err := yaml.Marshal(crd)
		if err != nil {
			return err
		}
		text.WriteString("---\n" + string(one))
	}
	text.WriteString("---\n{apiVersion: v1, kind: Namespace, metadata: {name: " + global + "}}\n")
	ctx := context.Background()
	if said, err := kubectl(ctx, text.String(), "apply", "--server-side", "-f", "-"); err != nil {
		return fmt.Errorf("install the kinds of OLM: %w: %s", err, said)
	}
	said, err := kubectl(ctx, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// start starts a program with its output in a file.
func start(logs string, arguments ...string) (stop func(), err error) {
	file, err := os.CreateTemp(logs, arguments[0]+"-*.log")
	if err != nil {
		return nil, err
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when the tests are killed
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", arguments[0], err)
	}
	return func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		_ = file.Close()
	}, nil
}

func kubectl(ctx context.Context, input string, arguments ...string) (string, error) {
	return said(ctx, input, "kubectl", arguments...)
}

func said(ctx context.Context, input, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = "../.."
	command.Stdin = strings.NewReader(input)
	text, err := command.CombinedOutput()
	return strings.TrimSpace(string(text)), err
}
