/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The namespaces and ServiceAccounts. audit-policy.yaml has their user names.
const (
	operatorNamespace = "databasecluster-operator-system"
	operatorAccount   = "databasecluster-operator-controller-manager"
	operatorClusters  = "bench-operator" // the operator watches no other namespace
	floorClusters     = "bench-floor"
	floorAccount      = "floor"
	scraper           = "scraper"
)

// contestant is one of the two programs that create clusters.
type contestant struct {
	name    string
	user    string // in the audit log
	load    *load
	process *process
	// heap returns the live bytes after a garbage collection.
	heap func(context.Context) (float64, error)

	// How many clusters there are, and the heap then.
	size     int
	lastHeap float64
}

// world is the control plane with everything that the benchmark deploys.
type world struct {
	options
	dir      string
	config   *rest.Config
	admin    client.WithWatch
	clients  kubernetes.Interface
	audit    *audit
	floor    *contestant
	operator *contestant
	managers []*manager
	scraping string // the token to read metrics with
}

// newWorld deploys the operator like `make deploy`, without the Deployment: the operator runs on this machine.
func newWorld(ctx context.Context, o options, dir string) (*world, error) {
	say("deploying the CRDs and the RBAC rules")
	if err := deploy(ctx); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, fmt.Errorf("read KUBECONFIG: %w", err)
	}
	config.QPS = -1 // no rate limit in the client library
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	admin, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	log, err := openAudit(o.auditLog)
	if err != nil {
		return nil, err
	}
	return &world{options: o, dir: dir, config: config, admin: admin, clients: clients, audit: log}, nil
}

func deploy(ctx context.Context) error {
	for _, command := range [][]string{
		{"apply", "--server-side", "-k", "config/default"},
		{"-n", operatorNamespace, "delete", "deployments", "--all"},
		{"-n", operatorNamespace, "create", "serviceaccount", scraper},
		{"create", "clusterrolebinding", scraper, "--clusterrole=databasecluster-operator-metrics-reader", "--serviceaccount=" + operatorNamespace + ":" + scraper},
		{"create", "namespace", operatorClusters},
		{"create", "namespace", floorClusters},
		{"-n", floorClusters, "create", "serviceaccount", floorAccount},
		{"create", "clusterrolebinding", floorAccount, "--clusterrole=cluster-admin", "--serviceaccount=" + floorClusters + ":" + floorAccount},
		// Last, because kubectl fails on a CRD that the API server does not serve yet.
		{"wait", "--for=condition=Established", "crd", "databaseclusters.database.dbcluster.io"},
	} {
		if out, err := exec.CommandContext(ctx, "kubectl", command...).CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	return nil
}

// token creates a token for a ServiceAccount.
func (w *world) token(ctx context.Context, namespace, account string) (string, error) {
	hours := int64(4 * 60 * 60)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hours}}
	answer, err := w.clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a token for %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// kubeconfig writes a kubeconfig for a ServiceAccount.
func (w *world) kubeconfig(ctx context.Context, namespace, account string) (string, error) {
	token, err := w.token(ctx, namespace, account)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["bench"] = &clientcmdapi.Cluster{
		Server: w.config.Host, CertificateAuthority: w.config.CAFile, CertificateAuthorityData: w.config.CAData,
	}
	config.AuthInfos["bench"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["bench"] = &clientcmdapi.Context{Cluster: "bench", AuthInfo: "bench"}
	config.CurrentContext = "bench"
	path := filepath.Join(w.dir, account+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write a kubeconfig: %w", err)
	}
	return path, nil
}

func user(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}

// startContestants starts both contestants and the simulated nodes. It creates one cluster first. Then the operator's
// API discovery is complete, and the floor has the recipes.
func (w *world) startContestants(ctx context.Context) error {
	if err := errors.Join(playNodes(ctx, w.clients, operatorClusters), playNodes(ctx, w.clients, floorClusters)); err != nil {
		return err
	}
	return errors.Join(w.startOperator(ctx), w.startFloor(ctx))
}

// close stops all programs. The control plane stops by itself.
func (w *world) close() {
	for _, m := range w.managers {
		m.kill()
	}
	if w.floor != nil {
		w.floor.process.kill()
	}
}
