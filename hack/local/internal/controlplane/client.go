package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
)

// Client speaks to the API server as its administrator. It knows two verbs, which is less than
// a client library and enough here.
type Client struct {
	url  string
	http *http.Client
}

func newClient(url string, certificates pki.Folder) (*Client, error) {
	authority, err := os.ReadFile(certificates.Certificate(pki.CA))
	if err != nil {
		return nil, fmt.Errorf("read the authority of the cluster: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(certificates.Certificate(Admin), certificates.Key(Admin))
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	return &Client{url, &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// Answers makes a readiness check of a URL.
func (c *Client) Answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.do(ctx, http.MethodGet, url, "", "")
		return err
	}
}

// Get reads an object of the API.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	body, err := c.do(ctx, http.MethodGet, c.url+path, "", "")
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// Apply makes an object of the API what the manifest says.
func (c *Client) Apply(ctx context.Context, path, manifest string) error {
	url := c.url + path + "?fieldManager=local&force=true"
	_, err := c.do(ctx, http.MethodPatch, url, "application/apply-patch+yaml", manifest)
	return err
}

func (c *Client) do(ctx context.Context, method, url, contentType, content string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, response.Status, body)
	}
	return body, nil
}
