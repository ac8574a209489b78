/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scraper is the ServiceAccount that reads metrics, in the namespace of the same name.
const scraper = "bench-scraper"

// world is the control plane with everything that the benchmark deploys.
type world struct {
	options
	fail        context.CancelCauseFunc // ends the benchmark
	dir         string
	config      *rest.Config
	admin       client.Client
	clients     kubernetes.Interface
	dynamic     dynamic.Interface
	audit       *audit
	contestants []*contestant
	kubelets    []*process // in the full form
	scraping    string     // the token to read metrics with

	round  int
	report *report
}

func newWorld(ctx context.Context, fail context.CancelCauseFunc, o options) (*world, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, fmt.Errorf("read KUBECONFIG: %w", err)
	}
	config.QPS = -1 // no rate limit in the client library
	w := &world{options: o, fail: fail, dir: filepath.Dir(o.auditLog), config: config}
	if w.admin, err = client.New(config, client.Options{}); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	binary := rest.CopyConfig(config)
	binary.AcceptContentTypes, binary.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	if w.clients, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	if w.audit, err = openAudit(o.auditLog); err != nil {
		return nil, err
	}
	version, err := w.clients.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("read the version of Kubernetes: %w", err)
	}
	if w.report, err = newReport(o, version.GitVersion); err != nil {
		return nil, err
	}
	err = kubectl(ctx,
		[]string{"create", "namespace", scraper},
		[]string{"-n", scraper, "create", "serviceaccount", scraper},
		[]string{"create", "clusterrole", scraper, "--verb=get", "--non-resource-url=/metrics"},
		[]string{"create", "clusterrolebinding", scraper, "--clusterrole=" + scraper, "--serviceaccount=" + scraper + ":" + scraper})
	if err != nil {
		return nil, err
	}
	w.scraping, err = w.token(ctx, scraper, scraper)
	return w, err
}

func kubectl(ctx context.Context, commands ...[]string) error {
	for _, command := range commands {
		if out, err := exec.CommandContext(ctx, "kubectl", command...).CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	return nil
}

// token creates a token for a ServiceAccount.
func (w *world) token(ctx context.Context, namespace, account string) (string, error) {
	seconds := int64(24 * 60 * 60)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := w.clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a token for %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// writeKubeconfig writes a kubeconfig for a ServiceAccount.
func (w *world) writeKubeconfig(ctx context.Context, name, namespace, account string) (string, error) {
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
	path := filepath.Join(w.dir, name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write a kubeconfig: %w", err)
	}
	return path, nil
}

// close stops all programs. The control plane stops by itself.
func (w *world) close() {
	for _, c := range w.contestants {
		for _, p := range c.programs {
			p.kill()
		}
	}
	for _, p := range w.kubelets {
		p.kill()
	}
}
