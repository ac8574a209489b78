/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=create;patch;delete

func (e execution) onCertificates(ctx context.Context, o operation.Certificates) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.IssueCertificate:
		return e.issue(ctx, o)
	case operation.OwnCertificate:
		return nil, e.own(ctx, o.Certificate)
	case operation.Reload:
		_, err := e.Writer.Create(ctx, o.Job.Object)
		return nil, err
	}
	return nil, unknown(o)
}

// issue issues a certificate. Its key exists only here and in the Secret.
func (e execution) issue(ctx context.Context, o operation.IssueCertificate) ([]kit.Event, error) {
	authority, err := e.authority(ctx, o)
	if err != nil {
		return nil, err
	}
	files, err := authority.Issue(o.Hosts, e.At)
	if err != nil {
		return nil, err
	}
	if err := e.keep(ctx, resources.CertificateSecret(e.Cluster, o.Name, files, o.Renewal), o.Certificate); err != nil {
		return nil, err
	}
	facts := pki.Judge(files, nil, e.At)
	return []kit.Event{kit.Normal("CertificateIssued", "IssueCertificate", fmt.Sprintf("issued the certificate in Secret %s, valid until %s, because %s",
		o.Name, facts.NotAfter.Format(time.RFC3339), o.Why))}, nil
}

// authority returns the CA of the cluster, and creates or renews it if necessary.
func (e execution) authority(ctx context.Context, o operation.IssueCertificate) (pki.Authority, error) {
	if !o.Authority.Found() {
		authority, err := pki.NewAuthority(e.Cluster.Name, e.At)
		if err != nil {
			return pki.Authority{}, err
		}
		return authority, e.keepAuthority(ctx, o, authority)
	}
	secret := &corev1.Secret{}
	if err := e.Live.Get(ctx, client.ObjectKey{Namespace: e.Cluster.Namespace, Name: o.AuthorityName}, secret); err != nil {
		return pki.Authority{}, fmt.Errorf("read Secret %s: %w", o.AuthorityName, err)
	}
	if secret.UID != o.Authority.UID || secret.ResourceVersion != o.Authority.Version {
		return pki.Authority{}, apierrors.NewConflict(corev1.Resource("secrets"), o.AuthorityName, fmt.Errorf("it has changed since it was read"))
	}
	authority, err := pki.ParseAuthority(secret.Data)
	if err != nil || !o.NewAuthority {
		return authority, err
	}
	next, err := authority.Renew(e.At)
	if err != nil {
		return pki.Authority{}, err
	}
	return next, e.keepAuthority(ctx, o, next)
}

func (e execution) keepAuthority(ctx context.Context, o operation.IssueCertificate, authority pki.Authority) error {
	return e.keep(ctx, resources.CertificateSecret(e.Cluster, o.AuthorityName, authority.Files(), ""), o.Authority)
}

// keep creates a Secret, or replaces the one that was read. It never replaces another one.
func (e execution) keep(ctx context.Context, child objects.Child, live state.Certificate) error {
	var err error
	if live.Found() {
		_, err = e.Writer.Update(ctx, child.Object, live.UID, live.Version)
	} else {
		_, err = e.Writer.Create(ctx, child.Object)
	}
	return err
}

// own adds the cluster to the owners of a Secret.
func (e execution) own(ctx context.Context, certificate state.Certificate) error {
	before := e.belonging("Secret", certificate.Name)
	before.SetResourceVersion(certificate.Version)
	after := before.DeepCopy()
	after.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(e.Cluster, dbv1.GroupVersion.WithKind("DatabaseCluster"))})
	return e.Writer.Change(ctx, before, after)
}
