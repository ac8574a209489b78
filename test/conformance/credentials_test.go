//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// rotate replaces the generated passwords. The client gets them from its mounted Secret, and writes again.
func rotate(ctx context.Context, t *trial) (string, error) {
	_, before, err := t.password(ctx, t.Cluster)
	if err != nil {
		return "", err
	}
	pods, err := t.UIDs(ctx)
	if err != nil {
		return "", err
	}
	start := time.Now()
	request := start.UTC().Format("150405")
	if err := t.Annotate(ctx, dbv1.AnnotationRotateCredentials, request); err != nil {
		return "", err
	}
	err = lab.Await(ctx, "the rotation", func() bool {
		object, err := t.Object(ctx)
		return err == nil && object.Status.Credentials != nil && object.Status.Credentials.LastRotationRequest == request
	})
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, t.Conditions(ctx))
	}
	took := time.Since(start)
	if _, after, err := t.password(ctx, t.Cluster); err != nil || after == before {
		return "", errors.Join(err, errors.New("the connection Secret has the previous password"))
	}
	seen, err := t.recovers(ctx)
	if err != nil {
		return "", err
	}
	now, err := t.UIDs(ctx)
	how := "after a restart of the members"
	if sameMembers(pods, now) {
		how = "without a restart"
	} else if t.engine.Spec.Actions.Credentials != nil {
		err = errors.Join(err, errors.New("the engine has the action credentials, but members were restarted"))
	}
	return fmt.Sprintf("new passwords in force after %.0f s, %s: %s", took.Seconds(), how, seen), err
}

// hard begins a password that scripts, SQL, JSON and URIs have to quote.
const hard = `it's "hard" \to $quote% + `

// edit replaces the password of applications in the Secret, as a user does.
func edit(ctx context.Context, t *trial) (string, error) {
	start := time.Now()
	key, err := t.editOf(ctx, t.Cluster)
	if err != nil {
		return "", err
	}
	took := time.Since(start)
	seen, err := t.recovers(ctx)
	if err == nil && noConnect(t) == "" {
		_, err = t.visitor.run(ctx, "", t.client.Connect)
	}
	return fmt.Sprintf("the key %s is in force after %.0f s: %s", key, took.Seconds(), seen), err
}

// editOf edits the Secret of a cluster, and waits until the connection Secret has the new password.
func (t *trial) editOf(ctx context.Context, cluster *lab.Cluster) (key string, err error) {
	key, before, err := t.password(ctx, cluster)
	if err != nil {
		return "", err
	}
	now := time.Now().Format(time.RFC3339)
	patch, err := json.Marshal(map[string]any{"stringData": map[string]string{key: hard + now}})
	if err != nil {
		return "", err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: naming.Credentials(cluster.Name)}}
	if err := t.Patch(ctx, secret, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return "", err
	}
	if err := cluster.Annotate(ctx, dbv1.AnnotationRefresh, now); err != nil {
		return "", err
	}
	return key, lab.Await(ctx, "the edited password in the connection Secret", func() bool {
		_, value, err := t.password(ctx, cluster)
		return err == nil && value != before
	})
}

// password returns the generated key whose value is in the connection Secret, and the value there.
func (t *trial) password(ctx context.Context, cluster *lab.Cluster) (key, value string, err error) {
	secret := &corev1.Secret{}
	if err := t.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: naming.Credentials(cluster.Name)}, secret); err != nil {
		return "", "", err
	}
	binding, err := t.binding(ctx, cluster)
	if err != nil {
		return "", "", err
	}
	for _, declared := range t.engine.Spec.SecretKeys {
		for _, entry := range binding {
			if text := string(secret.Data[declared.Name]); text != "" && text == string(entry) {
				return declared.Name, text, nil
			}
		}
	}
	return "", "", errors.New("the connection Secret has no value of the Secret with the credentials")
}
