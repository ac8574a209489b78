/*
SPDX-License-Identifier: Apache-2.0
*/

package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups="",resources=nodes/stats,verbs=get,roleName=manager-cluster-role

const (
	// port is where kubelets serve what they measure.
	port = "10250"
	// patient is how long a request waits for a kubelet.
	patient = 10 * time.Second
	// largest is the largest answer that is read: a node with a thousand pods needs a tenth of it.
	largest = 64 << 20
)

// New returns a meter that asks the kubelets as the operator. The token is sent only to a kubelet whose certificate is signed by the CA of
// the API server, or by one in the file.
func New(config *rest.Config, file string) (*Poller, error) {
	asks, err := clientFor(config, file)
	if err != nil {
		return nil, err
	}
	return newPoller(reader{asks, port}.summary, clock.RealClock{}), nil
}

// clientFor is a client that verifies every kubelet before it sends anything.
func clientFor(config *rest.Config, file string) (*http.Client, error) {
	// Only what authenticates the operator is used of its configuration. Nothing can turn the verification off.
	own := &rest.Config{
		BearerToken: config.BearerToken, BearerTokenFile: config.BearerTokenFile, Timeout: patient,
		TLSClientConfig: rest.TLSClientConfig{
			CertFile: config.CertFile, CertData: config.CertData, KeyFile: config.KeyFile, KeyData: config.KeyData,
			CAFile: config.CAFile, CAData: config.CAData,
		},
		// A kubelet is in the network of the cluster.
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
	if err := addAuthority(own, file); err != nil {
		return nil, err
	}
	asks, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("set the client of kubelets up: %w", err)
	}
	// A redirect would take the token to another server.
	asks.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return asks, nil
}

// addAuthority adds the CAs of a file to those of the API server.
func addAuthority(own *rest.Config, file string) error {
	if err := rest.LoadTLSFiles(own); err != nil {
		return fmt.Errorf("read the CA of the API server: %w", err)
	}
	own.CAFile = ""
	if file == "" {
		return nil
	}
	more, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read --kubelet-certificate-authority: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(more) {
		return fmt.Errorf("--kubelet-certificate-authority %s has no certificate in PEM: name a file with the CA of the kubelets", file)
	}
	own.CAData = append(append(append([]byte{}, own.CAData...), '\n'), more...)
	return nil
}

// reader reads from kubelets.
type reader struct {
	client *http.Client
	port   string
}

// summary reads the use of the volumes on a node.
func (r reader) summary(ctx context.Context, node, address string) (map[string]state.VolumeUsage, error) {
	where := "https://" + net.JoinHostPort(address, r.port) + "/stats/summary"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("the address %q of node %s is not valid", address, node)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, explain(node, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refused(node, response.StatusCode)
	}
	body := &summary{}
	if err := json.NewDecoder(io.LimitReader(response.Body, largest)).Decode(body); err != nil {
		return nil, fmt.Errorf("the kubelet of node %s does not answer with a summary", node)
	}
	return body.volumes(), nil
}

// explain returns an error whose text is the same at each attempt, because it is in conditions.
func explain(node string, err error) error {
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the kubelet of node %s has a certificate of an unknown CA, so the operator sends it no token. "+
			"Let kubelets request their certificate (serverTLSBootstrap: true) and approve the requests, or name the CA in the operator's flag "+
			"--kubelet-certificate-authority", node)
	case errors.As(err, &other):
		return fmt.Errorf("the certificate of the kubelet of node %s is not for the address of the node, so the operator sends it no token. "+
			"Let kubelets request their certificate (serverTLSBootstrap: true), and approve the requests", node)
	case errors.As(err, &invalid), errors.As(err, &verification):
		return fmt.Errorf("the certificate of the kubelet of node %s is not valid, so the operator sends it no token. Renew it", node)
	default:
		return fmt.Errorf("the operator does not reach the kubelet of node %s at port %s. Allow that in its network policy and firewall",
			node, port)
	}
}

func refused(node string, code int) error {
	switch code {
	case http.StatusForbidden:
		return fmt.Errorf("the operator may not get nodes/stats of node %s. Grant it the ClusterRole of the operator", node)
	case http.StatusUnauthorized:
		return fmt.Errorf("the kubelet of node %s does not accept tokens. Set authentication.webhook.enabled in its configuration", node)
	case http.StatusInternalServerError:
		return fmt.Errorf("the kubelet of node %s cannot measure: see its log. One cause is localStorageCapacityIsolation: false in its "+
			"configuration", node)
	default:
		return fmt.Errorf("the kubelet of node %s answers with the status %d", node, code)
	}
}

// summary is the part of the answer that is read.
type summary struct {
	Pods []struct {
		Volumes []volume `json:"volume"`
	} `json:"pods"`
}

type volume struct {
	Time           time.Time `json:"time"`
	AvailableBytes *int64    `json:"availableBytes"`
	CapacityBytes  *int64    `json:"capacityBytes"`
	InodesFree     *int64    `json:"inodesFree"`
	Inodes         *int64    `json:"inodes"`
	Claim          *struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"pvcRef"`
}

// volumes are the measured claims. A number that is missing is not 0.
func (s *summary) volumes() map[string]state.VolumeUsage {
	all := map[string]state.VolumeUsage{}
	for _, pod := range s.Pods {
		for _, v := range pod.Volumes {
			if v.Claim != nil && v.AvailableBytes != nil && v.CapacityBytes != nil && *v.CapacityBytes > 0 {
				all[v.Claim.Namespace+"/"+v.Claim.Name] = v.usage()
			}
		}
	}
	return all
}

func (v volume) usage() state.VolumeUsage {
	seen := state.VolumeUsage{Capacity: *v.CapacityBytes, Available: *v.AvailableBytes, Measured: v.Time}
	seen.UsedPercent = state.PercentUsed(seen.Capacity, seen.Available)
	if v.Inodes != nil && v.InodesFree != nil {
		seen.UsedPercent = max(seen.UsedPercent, state.PercentUsed(*v.Inodes, *v.InodesFree))
	}
	return seen
}
