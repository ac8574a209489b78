/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

const dnsPort, httpPort, httpsPort = 53, 80, 443

// Link-local addresses, at which clouds serve credentials of the node (169.254.169.254), and the IPv6 address for
// the same purpose. Backups are never stored there.
var (
	linkLocal4 = netip.MustParsePrefix("169.254.0.0/16")
	linkLocal6 = netip.MustParsePrefix("fe80::/10")
	metadata6  = netip.MustParsePrefix("fd00:ec2::254/128")
	metadata4  = netip.MustParseAddr("169.254.169.254")
)

// onLink reports whether an address is one of these.
func onLink(address netip.Addr) bool {
	return slices.ContainsFunc([]netip.Prefix{linkLocal4, linkLocal6, metadata6}, func(p netip.Prefix) bool { return p.Contains(address) })
}

// dns is every pod of the cluster, because the labels of DNS servers differ, and the DNS servers outside the
// cluster.
func dns(nameServers []netip.Addr) resources.Egress {
	out := resources.Egress{EveryPod: true, UDP: []int32{dnsPort}, TCP: []int32{dnsPort}}
	for _, server := range nameServers {
		if server = plain(server); server != metadata4 && !metadata6.Contains(server) {
			out.Blocks = append(out.Blocks, only(server))
		}
	}
	return out
}

func only(address netip.Addr) resources.Block {
	return resources.Block{CIDR: netip.PrefixFrom(address, address.BitLen()).String()}
}

// plain is an address without its zone, and a mapped address as IPv4.
func plain(address netip.Addr) netip.Addr { return address.WithZone("").Unmap() }

// toDestination is as narrow as the endpoint allows: an address, or the namespace of a Service, whose pods may
// listen on any port. The addresses of other hosts are unknown, so it allows all addresses except link-local ones.
func toDestination(namespace string, at *dbv1.BackupDestination) []resources.Egress {
	if at.ClaimName != "" {
		return nil
	}
	host, port := hostPort(at.Endpoint)
	if address, err := netip.ParseAddr(host); err == nil {
		if onLink(plain(address)) {
			return nil
		}
		return []resources.Egress{{Blocks: []resources.Block{only(plain(address))}, TCP: []int32{port}}}
	}
	anywhere := resources.Egress{TCP: []int32{port}, Blocks: []resources.Block{
		{CIDR: "0.0.0.0/0", Except: []string{linkLocal4.String()}},
		{CIDR: "::/0", Except: []string{linkLocal6.String(), metadata6.String()}},
	}}
	switch labels := strings.Split(strings.TrimSuffix(host, "."), "."); {
	case host == "" || host == "localhost":
		return []resources.Egress{anywhere}
	case len(labels) == 1:
		return []resources.Egress{{PodsOf: namespace}}
	case len(labels) > 2 && labels[2] == "svc":
		return []resources.Egress{{PodsOf: labels[1]}}
	case len(labels) == 2: // a Service with its namespace, or a host such as example.org
		return []resources.Egress{{PodsOf: labels[1]}, anywhere}
	default:
		return []resources.Egress{anywhere}
	}
}

// hostPort is the host of an endpoint, "" for AWS, and its port.
func hostPort(endpoint string) (host string, port int32) {
	parsed, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return "", httpsPort
	}
	number, err := strconv.ParseUint(parsed.Port(), 10, 16)
	switch {
	case err == nil:
		return parsed.Hostname(), int32(number)
	case parsed.Scheme == "http":
		return parsed.Hostname(), httpPort
	default:
		return parsed.Hostname(), httpsPort
	}
}

// forbidden reports why copies must not connect to an endpoint; "" if they may.
func forbidden(at *dbv1.BackupDestination) string {
	host, _ := hostPort(at.Endpoint)
	address, err := netip.ParseAddr(host)
	if err != nil || at.ClaimName != "" || !onLink(plain(address)) {
		return ""
	}
	return fmt.Sprintf("the endpoint %s of the destination is a link-local address, such as a cloud's metadata service. Copies must not connect to it: set another endpoint", at.Endpoint)
}

// policy isolates the copies of a backup. They have real data and real passwords, so clients must not mistake them
// for the database, and they must not reach its peers. They may connect only to the DNS of the cluster and to the
// destination.
func (s situation) policy() objects.Child {
	backup := s.backup
	return resources.SeclusionPolicy(resources.Seclusion{
		Namespace: backup.Namespace, Name: s.policyName(),
		Labels: naming.BackupJobLabels(backup, dbv1.ComponentVerification),
		Owner:  ownedBy(backup),
		Pods: map[string]string{
			dbv1.LabelComponent: dbv1.ComponentVerification, dbv1.LabelBackupUID: string(backup.UID),
		},
		Egress: append([]resources.Egress{dns(s.NameServers)}, toDestination(backup.Namespace, backup.Status.Destination)...),
	})
}

func (s situation) policyName() string {
	return naming.VerificationPolicy(s.backup.Spec.Cluster, s.backup.UID)
}
