package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Client connects to the API server and related programs as the administrator.
type Client struct {
	*kubernetes.Clientset
	http *http.Client
}

// Client returns a client of the API server.
func (s Settings) Client() (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(Admin))
	if err != nil {
		return nil, fmt.Errorf("read the administrator's kubeconfig: %w", err)
	}
	config.Timeout = 10 * time.Second
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	set, err := kubernetes.NewForConfigAndClient(config, client)
	return &Client{set, client}, err
}

// Answers returns a readiness check of a URL.
func (c *Client) Answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("ask %s: %w", url, err)
		}
		response, err := c.http.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode >= http.StatusBadRequest {
			body, _ := io.ReadAll(response.Body)
			return fmt.Errorf("%s responds %s: %s", url, response.Status, body)
		}
		return nil
	}
}

// Apply applies a manifest to the API.
func (c *Client) Apply(ctx context.Context, path, manifest string) error {
	request := c.Discovery().RESTClient().Patch(types.ApplyYAMLPatchType).AbsPath(path).Param("fieldManager", "local").Param("force", "true")
	if err := request.Body([]byte(manifest)).Do(ctx).Error(); err != nil {
		return fmt.Errorf("apply %s: %w", path, err)
	}
	return nil
}
