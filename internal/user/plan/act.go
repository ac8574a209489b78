/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Act writes the Secret, if it is still the one that was read.
func (w WriteSecret) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	text, err := w.text(m)
	if err != nil {
		return nil, err
	}
	data, err := w.data(text)
	if err != nil {
		return nil, err
	}
	var events []kit.Event
	if w.issue != "" {
		if events, err = w.certify(ctx, m, data); err != nil {
			return nil, err
		}
	}
	if live := w.facts.Secret; live != nil {
		_, err = m.Writer.Update(ctx, w.child(data).Object, live.UID, live.ResourceVersion)
	} else {
		_, err = m.Writer.Create(ctx, w.child(data).Object)
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// certify adds a new certificate by the CA of the cluster. Its key exists only here and in the Secret.
func (w WriteSecret) certify(ctx context.Context, m subject.Means, data map[string][]byte) ([]kit.Event, error) {
	authority, err := m.Authority(ctx, w.user.Namespace, w.facts.Authority)
	if err != nil {
		return nil, err
	}
	files, err := authority.IssueClient(w.user.Spec.Name, m.At)
	if err != nil {
		return nil, err
	}
	copyPair(data, files)
	files[pki.AuthorityKey] = []byte(w.facts.Authority.CA)
	expiry := pki.JudgeClient(files, w.user.Spec.Name, m.At).NotAfter
	return []kit.Event{kit.Normal("CertificateIssued", "IssueCertificate", fmt.Sprintf("issued the certificate in Secret %s, valid until %s, "+
		"because %s", naming.User(w.user.Name), expiry.Format(time.RFC3339), w.issue))}, nil
}

// text is the password.
func (w WriteSecret) text(m subject.Means) (string, error) {
	if !w.generate {
		return password(w.user, w.facts), nil
	}
	values, err := m.Generate([]engine.GeneratedKey{engine.UserPassword(w.facts.Engine, accounts.PasswordKey)})
	if err != nil {
		return "", err
	}
	text, err := base64.StdEncoding.DecodeString(fmt.Sprint(values[accounts.PasswordKey]))
	return string(text), err
}

func (w WriteSecret) child(data map[string][]byte) objects.Child {
	labels := map[string]string{
		dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelInstance: w.user.Spec.ClusterRef.Name,
		dbv1.LabelComponent: dbv1.ComponentObjects,
	}
	secret := corev1ac.Secret(naming.User(w.user.Name), w.user.Namespace).
		WithLabels(labels).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion(dbv1.GroupVersion.String()).WithKind(accounts.KindUser).
			WithName(w.user.Name).WithUID(w.user.UID).WithController(true).WithBlockOwnerDeletion(true)).
		WithType(corev1.SecretType("servicebinding.io/" + w.facts.Engine.Spec.Connection.Type)).
		WithData(data)
	if request := w.user.Annotations[dbv1.AnnotationRotateCredentials]; request != "" {
		secret.WithAnnotations(map[string]string{dbv1.AnnotationRotationRequest: request})
	}
	return objects.New(secret, []string{"data"})
}
