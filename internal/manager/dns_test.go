/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTheNameServersAreThoseOfTheFlagElseThoseOfThePod(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	text := "search shop.svc.cluster.local\nnameserver 10.96.0.10\n# nameserver 192.0.2.1\nnameserver fd00::a\nnameserver what\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"": "[10.96.0.10 fd00::a]", "192.0.2.53, 2001:db8::1": "[192.0.2.53 2001:db8::1]"} {
		s, err := Parse([]string{"--dns-servers=" + flag}, environment(nil))
		if got := fmt.Sprint(s.nameServers(file)); err != nil || got != want {
			t.Errorf("%q: %s, %v", flag, got, err)
		}
	}
	if s, _ := Parse(nil, environment(nil)); len(s.nameServers(file+"-not")) != 0 {
		t.Error("a file that does not exist names servers")
	}
	if _, err := Parse([]string{"--dns-servers=dns.example.org"}, environment(nil)); err == nil {
		t.Error("a host name is no address")
	}
}

func TestTheClusterDomainIsThatOfTheSearchList(t *testing.T) {
	for text, want := range map[string]string{
		"search shop.svc.example.test svc.example.test example.test\nnameserver 10.96.0.10\n": "example.test",
		"search shop.svc.cluster.local svc.cluster.local. cluster.local\n":                    "cluster.local",
		"nameserver 10.96.0.10\nsearch office.example.test\n":                                 "cluster.local",
		"": "cluster.local",
	} {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := clusterDomain(file); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := clusterDomain(filepath.Join(t.TempDir(), "none")); got != "cluster.local" {
		t.Errorf("without a file: %s", got)
	}
}
