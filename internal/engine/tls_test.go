/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestAnEffectiveClusterHasTheSecretTheModeAndTheVariables(t *testing.T) {
	for name, c := range map[string]struct {
		tls  dbv1.ClusterTLS
		want dbv1.ClusterTLS
	}{
		"its own CA":   {dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}, dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, SecretName: "orders-tls", Mode: dbv1.TLSRequire}},
		"an issuer":    {dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "x"}, Mode: dbv1.TLSAllow}, dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "x"}, SecretName: "orders-tls", Mode: dbv1.TLSAllow}},
		"user's files": {dbv1.ClusterTLS{SecretName: "mine"}, dbv1.ClusterTLS{SecretName: "mine", Mode: dbv1.TLSRequire}},
	} {
		cluster := &dbv1.DatabaseCluster{}
		cluster.Name, cluster.Spec.TLS = "orders", &c.tls
		resolved := Resolve(cluster, ledger())
		if !reflect.DeepEqual(*resolved.Spec.TLS, c.want) {
			t.Errorf("%s: %+v, want %+v", name, *resolved.Spec.TLS, c.want)
		}
		for _, want := range []corev1.EnvVar{{Name: "DBC_TLS_DIR", Value: "/dbc/tls"}, {Name: "DBC_TLS_MODE", Value: string(c.want.Mode)}} {
			if !slices.Contains(resolved.Spec.Container.Env, want) {
				t.Errorf("%s: the environment lacks %v", name, want)
			}
		}
		if again := Resolve(resolved, ledger()); !reflect.DeepEqual(again, resolved) {
			t.Errorf("%s: resolving it again changes it", name)
		}
	}
}

func TestAClusterWithoutTLSHasNoVariablesAndNoSecret(t *testing.T) {
	resolved := Resolve(&dbv1.DatabaseCluster{}, ledger())
	for _, variable := range resolved.Spec.Container.Env {
		if variable.Name == "DBC_TLS_DIR" || variable.Name == "DBC_TLS_MODE" {
			t.Errorf("it has %v", variable)
		}
	}
	if TLSSecret(resolved) != "" {
		t.Errorf("it has Secret %s", TLSSecret(resolved))
	}
}
