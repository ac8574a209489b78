/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"slices"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestMembersGetTheCAOfClientsOnlyIfItIsThatOfTheCluster(t *testing.T) {
	const accept = dbv1.ClientCertificatesAccept
	own := &dbv1.TLSSelfSigned{}
	for _, c := range []struct {
		tls  dbv1.ClusterTLS
		want bool
	}{
		{dbv1.ClusterTLS{SelfSigned: own, ClientCertificates: accept}, true},
		{dbv1.ClusterTLS{SelfSigned: own, ClientCertificates: accept, Mode: dbv1.TLSRequire}, true},
		{dbv1.ClusterTLS{SelfSigned: own, ClientCertificates: accept, Mode: dbv1.TLSAllow}, false},
		{dbv1.ClusterTLS{SelfSigned: own, ClientCertificates: dbv1.ClientCertificatesIgnore}, false},
		{dbv1.ClusterTLS{SelfSigned: own}, false},
		{dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "company"}, ClientCertificates: accept}, false},
		{dbv1.ClusterTLS{SecretName: "mine", ClientCertificates: accept}, false},
	} {
		cluster := &dbv1.DatabaseCluster{}
		cluster.Name, cluster.Spec.TLS = "orders", &c.tls
		var keys []string
		for _, item := range certificateVolume(cluster)[0].Secret.Items {
			keys = append(keys, *item.Key)
		}
		if want := []string{"tls.crt", "tls.key", "ca.crt", "clients.crt"}; !slices.Equal(keys, want[:map[bool]int{true: 4, false: 3}[c.want]]) {
			t.Errorf("%+v: %q", c.tls, keys)
		}
	}
}
