/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// CertManager is the API group of cert-manager.
const CertManager = "cert-manager.io"

// CertificateKind is the Certificate of cert-manager.
var CertificateKind = schema.GroupVersionKind{Group: CertManager, Version: "v1", Kind: "Certificate"}

// AnnotationCertificateName is on Secrets of cert-manager: the name of the Certificate.
const AnnotationCertificateName = CertManager + "/certificate-name"

// CertificateSecret is a Secret with a certificate or a CA that the operator issued, for the value of the annotation
// that requests a renewal. The hash of the applied object leaves out the files.
func CertificateSecret(cluster *dbv1.DatabaseCluster, name string, files pki.Files, renewal string) Child {
	secret := corev1ac.Secret(name, cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentTLS)).
		WithOwnerReferences(ownedBy(cluster)).
		WithType(corev1.SecretTypeTLS)
	if renewal != "" {
		secret.WithAnnotations(map[string]string{dbv1.AnnotationRenewCertificate: renewal})
	}
	return newChild(secret).set(toMap(corev1ac.Secret("", "").WithData(files))["data"], "data")
}

// Certificate is the Certificate by which cert-manager issues the certificate of a cluster. cert-manager creates a new
// key for each renewal.
func Certificate(cluster *dbv1.DatabaseCluster, hosts []string) Child {
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
			"name": issuer.Name, "kind": cmp.Or(issuer.Kind, "Issuer"), "group": cmp.Or(issuer.Group, CertManager),
		},
	}}}
	object.SetGroupVersionKind(CertificateKind)
	object.SetNamespace(cluster.Namespace)
	object.SetName(name)
	object.SetLabels(labels)
	setField(object.Object, []any{toMap(ownedBy(cluster))}, "metadata", "ownerReferences")
	return newChild(object, []string{"spec", "dnsNames"}, []string{"spec", "issuerRef"})
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

// ReloadJob makes all members load a certificate, and verifies that they serve it. It records the certificate.
func ReloadJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, image, certificate string) Child {
	call := &protocol.Reload{
		Members: hosts(cluster, cluster.Spec.Replicas), Port: int(cluster.Spec.Container.Port), Folder: naming.TLSPath, Command: declared.Spec.Actions.Reload.Command,
	}
	if start := declared.Spec.TLS.Preamble; start != nil {
		call.Request, call.Response = start.Request, start.Response
	}
	job := ActionJob(cluster, Action{
		Name:      naming.ReloadJob(cluster.Name, cluster.UID),
		Component: dbv1.ComponentReload,
		Owner:     ownedBy(cluster),
		Transfer:  &Transfer{Image: image, Call: call},
	})
	return job.set(certificate, "metadata", "annotations", dbv1.AnnotationCertificate)
}

func aDay(*dbv1.DatabaseCluster) time.Duration { return 24 * time.Hour }

// certificateVolume are the files of the certificate. The database reads its key as a member of the group of the
// volumes.
func certificateVolume(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeApplyConfiguration {
	name := engine.TLSSecret(cluster)
	if name == "" {
		return nil
	}
	source := corev1ac.SecretVolumeSource().WithSecretName(name).WithDefaultMode(secretMode)
	for _, key := range []string{pki.CertificateKey, pki.PrivateKeyKey, pki.AuthorityKey} {
		source.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return []*corev1ac.VolumeApplyConfiguration{corev1ac.Volume().WithName(naming.TLSVolume).WithSecret(source)}
}

func certificateMount(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeMountApplyConfiguration {
	if cluster.Spec.TLS == nil {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(naming.TLSVolume).WithMountPath(naming.TLSPath).WithReadOnly(true),
	}
}

// withoutObjects lets the pod of a Job start without objects that a foreground deletion may have deleted. Only a copy of
// the database needs the private key.
func (a Action) withoutObjects(spec *corev1ac.PodSpecApplyConfiguration) {
	for i := range spec.Volumes {
		switch v := &spec.Volumes[i]; *v.Name {
		case naming.ConfigVolume:
			v.ConfigMap.WithOptional(true)
		case naming.TLSVolume:
			v.Secret.WithOptional(true)
			if a.Copy == nil {
				v.Secret.Items = slices.DeleteFunc(v.Secret.Items, func(item corev1ac.KeyToPathApplyConfiguration) bool {
					return *item.Key == pki.PrivateKeyKey
				})
			}
		}
	}
}
