//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package integration runs the operator against a real kube-apiserver and kube-controller-manager. There is no
// kubelet: the tests set the status of pods. `make test-integration` runs it.
//
// Tests run in parallel, each in its own namespaces. Tests that change or count shared state run first, one after the
// other.
package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/manager"
)

// The operator of most tests runs in this process, as its ServiceAccount with the shipped RBAC rules.
const operatorUser = "system:serviceaccount:databasecluster-operator-system:databasecluster-operator-controller-manager"

var (
	admin    client.WithWatch // has all rights
	requests = &counter{}     // of the operator
)

func TestMain(m *testing.M) {
	stop, err := setUp()
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration tests:", err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	removeProgram()
	removePlugin()
	if err := judge(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// setUp installs the CRDs and starts the operator.
func setUp() (stop func(), err error) {
	kubeconfig := os.Getenv("DBC_TEST_KUBECONFIG")
	if kubeconfig == "" {
		return nil, fmt.Errorf("DBC_TEST_KUBECONFIG is not set: run the tests with `make test-integration`, which starts a control plane")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	crds := envtest.CRDInstallOptions{Paths: []string{"../../config/crd/bases"}, ErrorIfPathMissing: true}
	if _, err := envtest.InstallCRDs(config, crds); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := dbv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if admin, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if err := errors.Join(allow(operatorUser, managerRole, managerClusterRole), restrictSecrets()); err != nil {
		return nil, err
	}
	return startOperator(config)
}

func startOperator(config *rest.Config) (stop func(), err error) {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: operatorUser}
	config.Wrap(requests.wrap)
	settings, err := manager.Parse([]string{"--health-probe-bind-address=0", "--transfer-image=example.test/operator:1"}, func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	log := logr.Discard()
	if os.Getenv("DBC_TEST_LOG") != "" {
		log = settings.Logger()
	}
	ctrl.SetLogger(log)
	ctx, cancel := context.WithCancel(context.Background())
	mgr, err := manager.New(ctx, config, settings, log)
	if err != nil {
		cancel()
		return nil, err
	}
	var done sync.WaitGroup
	done.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "the operator stopped:", err)
			os.Exit(1)
		}
	})
	return func() { cancel(); done.Wait() }, nil
}

// load reads a manifest.
func load(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// enforce is the label of a namespace for the Pod Security level that it enforces.
const enforce = "pod-security.kubernetes.io/enforce"

// beside records the tests that run in parallel.
var beside sync.Map

// parallel lets a test run in parallel with others. Its objects are not cleaned up: deleting a namespace takes longer
// than most tests, and the control plane is temporary.
func parallel(t *testing.T) {
	t.Helper()
	beside.Store(t.Name(), true)
	t.Parallel()
}

// namespace creates a namespace for one test with the strictest Pod Security. For a test that runs alone, it deletes
// the namespace afterward, because the next test counts requests.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: map[string]string{enforce: "restricted"}}}
	if err := admin.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	stories.record(ns.Name, t.Name())
	test, _, _ := strings.Cut(t.Name(), "/")
	if _, stays := beside.Load(test); !stays {
		t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), ns) })
	}
	return ns.Name
}
