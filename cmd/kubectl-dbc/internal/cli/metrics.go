/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
)

// readUsage reads the CPU and memory of the pods, where a metrics server runs.
func (c *collection) readUsage(ctx context.Context) {
	clients, err := c.target.clientset()
	if err != nil {
		c.miss("metrics", err)
		return
	}
	content, err := clients.CoreV1().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/"+c.target.namespace+"/pods").
		Param("labelSelector", labels.SelectorFromSet(ofObjects(c.cluster.Name)).String()).DoRaw(ctx)
	if err != nil {
		c.miss("CPU and memory of the pods", err)
		return
	}
	c.add("metrics/pods.json", string(content))
}

// readMetrics reads the metrics of each pod of the operator, without those of other clusters.
func (c *collection) readMetrics(ctx context.Context) {
	pods, err := c.operators(ctx)
	switch {
	case err != nil:
		c.miss("metrics of the operator", err)
	case len(pods) == 0:
		c.miss("metrics of the operator", fmt.Errorf("namespace %s has no pod of the operator: see --operator-namespace", c.operator))
	}
	for i := range pods {
		content, err := c.metricsOf(ctx, &pods[i])
		if err != nil {
			c.miss("metrics of pod "+pods[i].Name+" of the operator", err)
			continue
		}
		c.add("metrics/"+pods[i].Name+".txt", redact.Metrics(content, c.cluster.Namespace, c.cluster.Name))
	}
}

// metricsOf reads the metrics of a pod of the operator. The operator asks for a token, and the API server removes that of the user from a
// request that it forwards. A token of the user is sent to no pod: it has all rights of the user.
func (c *collection) metricsOf(ctx context.Context, pod *corev1.Pod) (string, error) {
	port, err := metricsPort(pod)
	if err != nil {
		return "", err
	}
	clients, err := c.target.clientset()
	if err != nil {
		return "", err
	}
	if c.account == "" {
		content, err := clients.CoreV1().RESTClient().Get().Namespace(pod.Namespace).Resource("pods").
			Name(fmt.Sprintf("https:%s:%d", pod.Name, port)).SubResource("proxy").Suffix("metrics").DoRaw(ctx)
		if err != nil {
			return "", fmt.Errorf("%w. Name a ServiceAccount that may read them: --metrics-account NAMESPACE/NAME", err)
		}
		return string(content), nil
	}
	token, err := tokenOf(ctx, clients, c.account)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	of := &target{Client: c.target.Client, namespace: pod.Namespace, config: c.target.config}
	local, _, err := of.forward(ctx, pod.Name, 0, port)
	if err != nil {
		return "", err
	}
	return scrape(ctx, fmt.Sprintf("https://localhost:%d/metrics", local), token)
}

// metricsPort is the port of the metrics in a pod of the operator.
func metricsPort(pod *corev1.Pod) (int32, error) {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == "metrics" {
				return p.ContainerPort, nil
			}
		}
	}
	return 0, errors.New("it has no port metrics: the operator serves none")
}

// tokenOf requests a token that is valid for ten minutes, the shortest time.
func tokenOf(ctx context.Context, clients kubernetes.Interface, account string) (string, error) {
	namespace, name, found := strings.Cut(account, "/")
	if !found {
		return "", fmt.Errorf("--metrics-account %q is not NAMESPACE/NAME", account)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(600))}}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token of ServiceAccount %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// scrape reads the metrics through a port that the API server forwards to the pod. The certificate of the operator is usually
// self-signed, so it is not verified. The token has only the rights of that ServiceAccount.
func scrape(ctx context.Context, url, token string) (string, error) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // see above
	}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the operator responds with %s", answer.Status)
	}
	return string(content), err
}
