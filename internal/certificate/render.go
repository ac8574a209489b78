/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// certificateSecret is a Secret with a certificate or a CA that the operator issued, for the value of the annotation
// that requests a renewal. The hash of the applied object leaves out the files.
func certificateSecret(cluster *dbv1.DatabaseCluster, name string, files pki.Files, renewal string) objects.Child {
	secret := corev1ac.Secret(name, cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentTLS)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithType(corev1.SecretTypeTLS)
	if renewal != "" {
		secret.WithAnnotations(map[string]string{dbv1.AnnotationRenewCertificate: renewal})
	}
	return objects.New(secret).Set(objects.Fields(corev1ac.Secret("", "").WithData(files))["data"], "data")
}

// CertManagerCertificate is the Certificate by which cert-manager issues the certificate of a cluster. cert-manager creates a new
// key for each renewal.
func CertManagerCertificate(cluster *dbv1.DatabaseCluster, hosts []string) objects.Child {
	issuer, name := cluster.Spec.TLS.IssuerRef, naming.Certificate(cluster.Name)
	labels := naming.Labels(cluster, dbv1.ComponentTLS)
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"secretName": name,
		// The operator may only write Secrets with its labels.
		"secretTemplate": map[string]any{"labels": texts(labels)},
		"dnsNames":       toAny(hosts),
		"usages":         []any{"digital signature", "server auth"},
		"privateKey":     map[string]any{"algorithm": "ECDSA", "size": int64(256), "rotationPolicy": "Always"},
		"issuerRef": map[string]any{
			"name": issuer.Name, "kind": cmp.Or(issuer.Kind, "Issuer"), "group": cmp.Or(issuer.Group, naming.CertManager),
		},
	}}}
	object.SetGroupVersionKind(naming.CertificateKind)
	object.SetNamespace(cluster.Namespace)
	object.SetName(name)
	object.SetLabels(labels)
	objects.SetField(object.Object, []any{objects.Fields(objects.OwnedBy(cluster))}, "metadata", "ownerReferences")
	return objects.New(object, []string{"spec", "dnsNames"}, []string{"spec", "issuerRef"})
}

func texts(labels map[string]string) map[string]any {
	all := make(map[string]any, len(labels))
	for key, value := range labels {
		all[key] = value
	}
	return all
}

func toAny(texts []string) []any {
	all := make([]any, 0, len(texts))
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// reloadAction is the kind of that Job. A member may be down for hours before it can load a certificate.
var reloadAction = jobs.ActionKind{
	Component: dbv1.ComponentReload, Retries: 6, Deadline: jobs.Within(24 * time.Hour), Resources: jobs.BackupResources, Connects: true,
}

// reloadJob makes all members load a certificate, and verifies that they serve it. It records the certificate.
func reloadJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, image, certificate string) objects.Child {
	call := &protocol.Reload{
		Members: pods.Hosts(cluster, cluster.Spec.Replicas), Port: int(cluster.Spec.Container.Port), Folder: naming.TLSPath,
		Command: declared.Spec.Actions.Reload.Command,
	}
	if start := declared.Spec.TLS.Preamble; start != nil {
		call.Request, call.Response = start.Request, start.Response
	}
	job := jobs.Build(cluster, jobs.Spec{
		Name:     naming.ReloadJob(cluster.Name, cluster.UID),
		Kind:     reloadAction,
		Owner:    objects.OwnedBy(cluster),
		Transfer: &jobs.Transfer{Image: image, Call: call},
	})
	return job.Set(certificate, "metadata", "annotations", dbv1.AnnotationCertificate)
}
