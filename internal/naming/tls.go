/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import (
	"k8s.io/apimachinery/pkg/types"
)

// Certificate is the name of the Secret with the certificate of a cluster, and of the Certificate of cert-manager.
func Certificate(cluster string) string { return cluster + "-tls" }

// Authority is the name of the Secret with the CA of a cluster. Pods never mount it.
func Authority(cluster string) string { return cluster + "-ca" }

// ReloadJob is the name of the Job that makes all members load a certificate. All certificates of a cluster share it, so there is
// only the Job of the last reload.
func ReloadJob(cluster string, uid types.UID) string {
	return cluster + "-reload-" + digest(string(uid))
}

// ClientHosts are the DNS names that the certificate of a cluster must have: of the Service, and of each member, to
// which Jobs connect.
func ClientHosts(cluster, namespace string, members int32) []string {
	all := []string{Service(cluster) + "." + namespace + ".svc"}
	for ordinal := range members {
		all = append(all, MemberHost(cluster, ordinal))
	}
	return all
}

// CertificateHosts are all DNS names of a cluster, in each form that clients use. Wildcards cover the longer forms of
// the names of members. OpenSSL accepts no wildcard for the shortest form, so that has a name for each ordinal. Replicas
// is true if there is a Service for them.
func CertificateHosts(cluster, namespace, domain string, members int32, replicas bool) []string {
	services := []string{Service(cluster), HeadlessService(cluster)}
	if replicas {
		services = append(services, ReplicasService(cluster))
	}
	forms := []string{"", "." + namespace, "." + namespace + ".svc", "." + namespace + ".svc." + domain}
	var all []string
	for _, service := range services {
		for _, form := range forms {
			all = append(all, service+form)
		}
	}
	for _, form := range forms[1:] {
		all = append(all, "*."+HeadlessService(cluster)+form)
	}
	for ordinal := range members {
		all = append(all, MemberHost(cluster, ordinal))
	}
	return append(all, "localhost")
}
