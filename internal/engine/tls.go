/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// TLSSecret is the name of the Secret with the certificate of a cluster; "" without TLS.
func TLSSecret(cluster *dbv1.DatabaseCluster) string {
	if cluster.Spec.TLS == nil {
		return ""
	}
	return cmp.Or(cluster.Spec.TLS.SecretName, naming.Certificate(cluster.Name))
}

// Reloads reports whether members of an engine load a renewed certificate without a restart.
func Reloads(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Actions.Reload != nil
}

// AsksForCertificates reports whether members ask clients for a certificate. Only the CA of the cluster may decide who logs in: an issuer
// or a person may also issue certificates with the name of a user to others.
func AsksForCertificates(cluster *dbv1.DatabaseCluster) bool {
	tls := cluster.Spec.TLS
	return tls != nil && tls.ClientCertificates == dbv1.ClientCertificatesAccept && tls.SelfSigned != nil &&
		cmp.Or(tls.Mode, dbv1.TLSRequire) == dbv1.TLSRequire
}

// fillTLS adds the name of the Secret and the default mode.
func fillTLS(cluster *dbv1.DatabaseCluster) {
	if tls := cluster.Spec.TLS; tls != nil {
		tls.SecretName = TLSSecret(cluster)
		tls.Mode = cmp.Or(tls.Mode, dbv1.TLSRequire)
	}
}

// tlsVariables tell scripts where the certificate is, and the mode. They do not exist without TLS.
func tlsVariables(tls *dbv1.ClusterTLS) []corev1.EnvVar {
	if tls == nil {
		return nil
	}
	return []corev1.EnvVar{{Name: "DBC_TLS_DIR", Value: naming.TLSPath}, {Name: "DBC_TLS_MODE", Value: string(tls.Mode)}}
}

// tlsProblem reports TLS settings that the engine does not support.
func tlsProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	tls := cluster.Spec.TLS
	switch {
	case tls == nil:
		return ""
	case declared == nil:
		return "spec.tls needs an engine that supports TLS: set spec.engine to one, or remove spec.tls"
	case declared.Spec.TLS == nil:
		return fmt.Sprintf("spec.tls is set, but DatabaseEngine %s does not support TLS: set spec.engine to another engine, or remove spec.tls",
			declared.Name)
	}
	if mode := cmp.Or(tls.Mode, dbv1.TLSRequire); !slices.Contains(declared.Spec.TLS.Modes, mode) {
		return fmt.Sprintf("spec.tls.mode is %s, but DatabaseEngine %s supports only %s: set spec.tls.mode to %s",
			mode, declared.Name, declared.Spec.TLS.Modes[0], declared.Spec.TLS.Modes[0])
	}
	if tls.ClientCertificates == dbv1.ClientCertificatesAccept && !HasCertificates(declared) {
		return fmt.Sprintf("spec.tls.clientCertificates is Accept, but users of DatabaseEngine %s have no certificates: remove the field",
			declared.Name)
	}
	return ""
}
