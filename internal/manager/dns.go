/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
)

// resolvConf has the name servers of the operator's pod, which are usually those of any pod of the cluster.
const resolvConf = "/etc/resolv.conf"

// nameServers are those of the settings, or else those of a file. An unreadable file has none.
func (s *Settings) nameServers(file string) []netip.Addr {
	if s.dnsServers != "" {
		given, _ := addresses(s.dnsServers) // already validated
		return given
	}
	text, err := os.ReadFile(file) //nolint:gosec // the file is a constant
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(fields[1]); err == nil {
			all = append(all, address)
		}
	}
	return all
}

// clusterDomain is the domain of the names of Services, from the search list of a file, or else its default.
func clusterDomain(file string) string {
	text, _ := os.ReadFile(file) //nolint:gosec // the file is a constant; an unreadable one has no list
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "search" {
			continue
		}
		for _, search := range fields[1:] {
			if domain, is := strings.CutPrefix(strings.TrimSuffix(search, "."), "svc."); is {
				return domain
			}
		}
	}
	return "cluster.local"
}

func addresses(list string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, text := range listed(list) {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not an IP address", text)
		}
		all = append(all, address)
	}
	return all, nil
}
