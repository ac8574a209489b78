/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get

// Facts are those that only the certificate needs.
type Facts struct {
	// Hosts are the DNS names that a new certificate gets.
	Hosts []string
	// Reload is the Job by which members load a certificate. Reloading is true if it exists. Reloaded identifies the certificate,
	// which may be a previous one.
	Reload    jobs.Job
	Reloading bool
	Reloaded  string
}

// readTLS reads the certificate of the cluster and, where they apply, its CA, the Certificate of cert-manager and the
// Job of a reload. The operator reads Secrets one by one, and keeps only public facts of them.
func readTLS(ctx context.Context, r *subject.ClusterReading) {
	o := reading{r}
	if o.Cluster.DeletionTimestamp != nil {
		return
	}
	o.readIssuance(ctx)
	tls := o.Cluster.Spec.TLS
	if tls == nil || o.Err != nil {
		return
	}
	o.Image = r.TransferImage
	facts := Facts{Hosts: Hosts(o.Cluster, o.Engine, r.ClusterDomain)}
	clients := naming.ClientHosts(o.Cluster.Name, o.Cluster.Namespace, o.Cluster.Spec.Replicas)
	own := tls.SecretName == ""
	o.TLS.Certificate = o.readCertificate(ctx, engine.TLSSecret(o.Cluster), own, func(files pki.Files) pki.CertificateFacts {
		return pki.Judge(files, clients, o.At)
	})
	if tls.SelfSigned != nil {
		o.TLS.Authority = o.readCertificate(ctx, naming.Authority(o.Cluster.Name), true, pki.AuthorityFacts)
	}
	o.addCertificate(own)
	o.readReload(ctx, &facts)
	state.Put(&o.Observed, facts)
}

type reading struct{ *subject.ClusterReading }

// Hosts are the names of the cluster, and those of the user that differ.
func Hosts(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, domain string) []string {
	all := naming.CertificateHosts(cluster.Name, cluster.Namespace, domain, engine.MaxReplicas, engine.HasRoles(declared))
	for _, name := range cluster.Spec.TLS.DNSNames {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// readCertificate reads a Secret. If the name is the cluster's own, the Secret must belong to the cluster, or to its
// Certificate of cert-manager.
func (o reading) readCertificate(ctx context.Context, name string, own bool, judge func(pki.Files) pki.CertificateFacts) state.Certificate {
	secret := &corev1.Secret{}
	if !o.FindLive(ctx, name, secret) {
		return state.Certificate{}
	}
	issued := o.TLS.Issuance.Live != nil && secret.Annotations[naming.AnnotationCertificateName] == name
	if own && !issued && !metav1.IsControlledBy(secret, o.Cluster) {
		o.Conflict(state.Ref{Kind: "Secret", Name: name}, secret)
		return state.Certificate{}
	}
	return state.CertificateOf(secret, judge(secret.Data))
}

// addCertificate adds the Secret to the references: members wait for one that the user has to create. Its content
// belongs to the template only if the engine cannot reload it.
func (o reading) addCertificate(own bool) {
	reference := pods.Reference{
		Kind: "Secret", Name: engine.TLSSecret(o.Cluster), Where: "spec.tls.secretName", Optional: own, Found: o.TLS.Certificate.Found(),
		Own: o.Cluster.Spec.TLS.SelfSigned != nil,
	}
	if !engine.Reloads(o.Engine) {
		reference.Content = o.TLS.Certificate.Identity
	}
	o.References = append(o.References, reference)
}

// readIssuance reads the Certificate of cert-manager, if the spec names an issuer or named one before. Only then the
// operator needs its CRD and the rights.
func (o reading) readIssuance(ctx context.Context) {
	before := o.Cluster.Status.TLS != nil && o.Cluster.Status.TLS.CertificateName != ""
	asked := o.Cluster.Spec.TLS != nil && o.Cluster.Spec.TLS.IssuerRef != nil
	if o.Err != nil || !asked && !before {
		return
	}
	live, name := &unstructured.Unstructured{}, naming.Certificate(o.Cluster.Name)
	live.SetGroupVersionKind(naming.CertificateKind)
	err := o.Live.Get(ctx, client.ObjectKey{Namespace: o.Cluster.Namespace, Name: name}, live)
	switch {
	case kit.NoKind(err):
		o.TLS.Issuance.Refused = "the API server does not know the kind Certificate of group cert-manager.io. Install cert-manager, or use " +
			"spec.tls.selfSigned"
	case apierrors.IsForbidden(err):
		o.TLS.Issuance.Refused = "the operator may not get certificates.cert-manager.io. Grant it that permission, or use spec.tls.selfSigned"
	case apierrors.IsNotFound(err):
	case err != nil:
		o.Err = err
	case !metav1.IsControlledBy(live, o.Cluster):
		o.Conflict(state.Ref{Kind: live.GetKind(), Name: name}, live)
	default:
		o.TLS.Issuance = state.IssuanceOf(live)
	}
}

// readReload reads the Job of the last reload.
func (o reading) readReload(ctx context.Context, f *Facts) {
	if !engine.Reloads(o.Engine) || o.TLS.Certificate.Identity == "" {
		return
	}
	if job, seen, found := o.JobNamed(ctx, reloadAction, naming.ReloadJob(o.Cluster.Name, o.Cluster.UID)); found {
		f.Reload, f.Reloading, f.Reloaded = seen, true, job.Annotations[dbv1.AnnotationCertificate]
	}
}
