/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"context"
	"fmt"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=create;patch;delete

// Act issues a certificate. Its key exists only here and in the Secret.
func (i IssueCertificate) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	authority, err := i.authority(ctx, m)
	if err != nil {
		return nil, err
	}
	files, err := authority.Issue(i.Hosts, m.At)
	if err != nil {
		return nil, err
	}
	if i.Clients {
		files[pki.ClientsKey] = files[pki.AuthorityKey]
	}
	if err := keep(ctx, m, certificateSecret(m.Cluster, i.Name, files, i.Renewal), i.Certificate); err != nil {
		return nil, err
	}
	facts := pki.Judge(files, nil, m.At)
	return []kit.Event{kit.Normal("CertificateIssued", "IssueCertificate",
		fmt.Sprintf("issued the certificate in Secret %s, valid until %s, because %s",
			i.Name, facts.NotAfter.Format(time.RFC3339), i.Why))}, nil
}

// authority returns the CA of the cluster, and creates or renews it if necessary.
func (i IssueCertificate) authority(ctx context.Context, m subject.Means) (pki.Authority, error) {
	if !i.Authority.Found() {
		authority, err := pki.NewAuthority(m.Cluster.Name, m.At)
		if err != nil {
			return pki.Authority{}, err
		}
		return authority, i.keepAuthority(ctx, m, authority)
	}
	authority, err := m.Authority(ctx, m.Cluster.Namespace, i.Authority)
	if err != nil || !i.NewAuthority {
		return authority, err
	}
	next, err := authority.Renew(m.At)
	if err != nil {
		return pki.Authority{}, err
	}
	return next, i.keepAuthority(ctx, m, next)
}

func (i IssueCertificate) keepAuthority(ctx context.Context, m subject.Means, authority pki.Authority) error {
	return keep(ctx, m, certificateSecret(m.Cluster, i.AuthorityName, authority.Files(), ""), i.Authority)
}

// keep creates a Secret, or replaces the one that was read. It never replaces another one.
func keep(ctx context.Context, m subject.Means, child objects.Child, live state.Certificate) error {
	var err error
	if live.Found() {
		_, err = m.Writer.Update(ctx, child.Object, live.UID, live.Version)
	} else {
		_, err = m.Writer.Create(ctx, child.Object)
	}
	return err
}
