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
func dns(nameServers []netip.Addr) egress {
	out := egress{EveryPod: true, UDP: []int32{dnsPort}, TCP: []int32{dnsPort}}
	for _, server := range nameServers {
		if server = plain(server); server != metadata4 && !metadata6.Contains(server) {
			out.Blocks = append(out.Blocks, only(server))
		}
	}
	return out
}

func only(address netip.Addr) block {
	return block{CIDR: netip.PrefixFrom(address, address.BitLen()).String()}
}

// plain is an address without its zone, and a mapped address as IPv4.
func plain(address netip.Addr) netip.Addr { return address.WithZone("").Unmap() }

// toDestination is as narrow as the endpoint allows: an address, or the namespace of a Service, whose pods may
// listen on any port. The addresses of other hosts are unknown, so it allows all addresses except link-local ones.
func toDestination(namespace string, at *dbv1.BackupDestination) []egress {
	if at.ClaimName != "" {
		return nil
	}
	host, port := hostPort(at.Endpoint)
	if address, err := netip.ParseAddr(host); err == nil {
		if onLink(plain(address)) {
			return nil
		}
		return []egress{{Blocks: []block{only(plain(address))}, TCP: []int32{port}}}
	}
	anywhere := egress{TCP: []int32{port}, Blocks: []block{
		{CIDR: "0.0.0.0/0", Except: []string{linkLocal4.String()}},
		{CIDR: "::/0", Except: []string{linkLocal6.String(), metadata6.String()}},
	}}
	switch labels := strings.Split(strings.TrimSuffix(host, "."), "."); {
	case host == "" || host == "localhost":
		return []egress{anywhere}
	case len(labels) == 1:
		return []egress{{PodsOf: namespace}}
	case len(labels) > 2 && labels[2] == "svc":
		return []egress{{PodsOf: labels[1]}}
	case len(labels) == 2: // a Service with its namespace, or a host such as example.org
		return []egress{{PodsOf: labels[1]}, anywhere}
	default:
		return []egress{anywhere}
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
	return fmt.Sprintf("the endpoint %s of the destination is a link-local address, such as a cloud's metadata service. Copies must not "+
		"connect to it: set another endpoint", at.Endpoint)
}
