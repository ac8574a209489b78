/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
)

func TestACertificateHasEveryFormOfTheNamesOfServicesAndMembers(t *testing.T) {
	all := CertificateHosts("orders", "shop", "cluster.local", 2, false)
	want := []string{
		"orders", "orders.shop", "orders.shop.svc", "orders.shop.svc.cluster.local",
		"orders-headless", "orders-headless.shop", "orders-headless.shop.svc", "orders-headless.shop.svc.cluster.local",
		"*.orders-headless.shop", "*.orders-headless.shop.svc", "*.orders-headless.shop.svc.cluster.local",
		"orders-0.orders-headless", "orders-1.orders-headless", "localhost",
	}
	if !slices.Equal(all, want) {
		t.Errorf("got %q", all)
	}
	for _, host := range ClientHosts("orders", "shop", 2) {
		if !slices.Contains(all, host) {
			t.Errorf("clients connect to %s, which the certificate lacks", host)
		}
	}
}

// OpenSSL accepts a wildcard only before at least two labels.
func TestEachWildcardIsOneThatOpenSSLAccepts(t *testing.T) {
	for _, host := range CertificateHosts("orders", "shop", "cluster.local", 9, false) {
		if strings.HasPrefix(host, "*") && strings.Count(host, ".") < 2 {
			t.Error(host)
		}
	}
}

func TestTheNamesOfTLSObjectsAreValid(t *testing.T) {
	longest := strings.Repeat("a", 40)
	for _, name := range []string{Certificate(longest), Authority(longest), ReloadJob(longest, uid)} {
		if problems := validation.NameIsDNSLabel(name, false); len(problems) > 0 {
			t.Errorf("%q: %v", name, problems)
		}
	}
	if ReloadJob("orders", uid) == ReloadJob("orders", "another") {
		t.Error("two clusters share a Job")
	}
}
