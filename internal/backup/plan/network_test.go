/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

var update = flag.Bool("update", false, "update the golden files")

// policyOf is the policy of the copies of a backup at an endpoint.
func policyOf(t *testing.T, at dbv1.BackupDestination, nameServers ...netip.Addr) *networkingv1.NetworkPolicy {
	t.Helper()
	backup := completed()
	backup.Status.Destination = &at
	policy := &networkingv1.NetworkPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(situationOf(backup, BackupFacts{NameServers: nameServers}).policy().Object.Object, policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

func TestACopyConnectsOnlyToDNSAndItsDestination(t *testing.T) {
	servers := []netip.Addr{netip.MustParseAddr("10.96.0.10"), netip.MustParseAddr("fd00::a"), netip.MustParseAddr("169.254.169.254")}
	for name, at := range map[string]dbv1.BackupDestination{
		"volume":    {URL: "file:///b", ClaimName: "c"},
		"aws":       {URL: "s3://b"},
		"address":   {URL: "s3://b", Endpoint: "https://192.0.2.7:9000"},
		"address-6": {URL: "s3://b", Endpoint: "http://[2001:db8::7]"},
		"service":   {URL: "s3://b", Endpoint: "http://minio.storage.svc.cluster.local:9000"},
		"short":     {URL: "s3://b", Endpoint: "http://s3:7070"},
		"ambiguous": {URL: "s3://b", Endpoint: "https://minio.storage"},
		"host":      {URL: "s3://b", Endpoint: "https://s3.example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(policyOf(t, at, servers...))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "network-"+name+".golden.yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file) //nolint:gosec // a golden file of this package
			if err != nil || string(got) != string(want) {
				t.Errorf("%s differs (go test ./internal/backup/plan -update updates it), %v:\n%s", file, err, got)
			}
		})
	}
}

func TestNoCopyConnectsToTheMetadataServiceOfACloud(t *testing.T) {
	metadata := []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fe80::1")}
	for _, endpoint := range []string{
		"", "http://169.254.169.254", "http://[::ffff:169.254.169.254]:80", "http://[fd00:ec2::254]", "http://[fe80::1%25eth0]", "http://169.254.170.2",
		"http://minio.storage", "https://s3.example.org", "http://s3", "http://192.0.2.7", "http://2852039166",
	} {
		policy := policyOf(t, dbv1.BackupDestination{URL: "s3://b", Endpoint: endpoint}, metadata[:2]...)
		for _, rule := range policy.Spec.Egress {
			if len(rule.To) == 0 {
				t.Errorf("%q: a rule without a peer allows them all", endpoint)
			}
			for _, peer := range rule.To {
				for _, address := range metadata {
					if peer.IPBlock != nil && allows(peer.IPBlock, address) {
						t.Errorf("%q: %v allows %s", endpoint, peer.IPBlock, address)
					}
				}
			}
		}
	}
}

func allows(block *networkingv1.IPBlock, address netip.Addr) bool {
	for _, except := range block.Except {
		if netip.MustParsePrefix(except).Contains(address) {
			return false
		}
	}
	return netip.MustParsePrefix(block.CIDR).Contains(address)
}

func TestALinkLocalEndpointIsRejectedForAVerification(t *testing.T) {
	backup, observed := verifying1(), idleWorld()
	backup.Status.Destination.Endpoint = "http://169.254.169.254"
	p := For(backup, observed)
	if v := p.Status.Verification; len(p.Operations) > 0 || v.Phase != dbv1.VerificationFailed || !strings.Contains(v.Message, "link-local address") {
		t.Error(text(p))
	}
}

func TestThePolicyOfARunningCopyIsCorrected(t *testing.T) {
	backup, observed := verifying1(), idleWorld()
	observed.Jobs, observed.Isolates = []jobs.Job{proof(0, nil)}, true
	if apply := does[operation.Apply](For(backup, observed)); apply == nil || apply.UID != "" {
		t.Error("a deleted policy is not re-created")
	}
	observed.Policy = policyOf(t, *backup.Status.Destination)
	if p := For(backup, observed); len(p.Operations) > 0 {
		t.Errorf("it is right: %s", text(p))
	}
	observed.NameServers = []netip.Addr{netip.MustParseAddr("10.96.0.10")}
	if does[operation.Apply](For(backup, observed)) == nil {
		t.Error("other name servers do not reach it")
	}
}
