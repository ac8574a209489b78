/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Act issues the certificate, if both Secrets are still those that were read.
func (i CertifyCompanion) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	authority, err := m.Authority(ctx, i.companion.Namespace, i.facts.Authority)
	if err != nil {
		return nil, err
	}
	hosts := Hosts(i.companion)
	files, err := authority.Issue(hosts, m.At)
	if err != nil {
		return nil, err
	}
	files[pki.AuthorityKey] = []byte(i.facts.Authority.CA)
	if live := i.facts.Certificate; live.Found() {
		_, err = m.Writer.Update(ctx, i.secret(files).Object, live.UID, live.Version)
	} else {
		_, err = m.Writer.Create(ctx, i.secret(files).Object)
	}
	if err != nil {
		return nil, err
	}
	expiry := pki.Judge(files, hosts, m.At).NotAfter
	return []kit.Event{kit.Normal("CertificateIssued", "IssueCertificate", fmt.Sprintf("issued the certificate in Secret %s, valid until %s, "+
		"because %s", naming.CompanionCertificate(i.companion.Name), expiry.Format(time.RFC3339), i.why))}, nil
}

func (i CertifyCompanion) secret(files pki.Files) objects.Child {
	return objects.New(corev1ac.Secret(naming.CompanionCertificate(i.companion.Name), i.companion.Namespace).
		WithLabels(labels(i.companion)).
		WithOwnerReferences(owner(i.companion)).
		WithType(corev1.SecretTypeTLS).
		WithData(files), []string{"data"})
}
