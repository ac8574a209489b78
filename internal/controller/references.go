/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// readReferences reads the Secrets, ConfigMaps and the ServiceAccount that the spec and its engine name, one by one. They
// belong to the user, and the operator does not list or watch them.
func (o *observation) readReferences(ctx context.Context) {
	for _, reference := range pods.References(engine.Resolve(o.Cluster, o.Engine)) {
		if o.Err == nil {
			o.Err = o.readReference(ctx, &reference)
			o.References = append(o.References, reference)
		}
	}
}

// readHookReferences reads objects that the pods of deletion hooks may wait for, which the status of a pod does not
// show. A deletion continues without objects that cannot be read.
func (o *observation) readHookReferences(ctx context.Context) {
	if o.Err != nil || len(o.Cluster.Spec.Deletion.Hooks) == 0 {
		return
	}
	for _, reference := range pods.ActionReferences(engine.Resolve(o.Cluster, o.Engine)) {
		if o.readReference(ctx, &reference) == nil {
			o.References = append(o.References, reference)
		}
	}
}

// readReference reads one object. It skips invalid names, such as a name with a namespace prefix.
func (o *observation) readReference(ctx context.Context, reference *pods.Reference) error {
	if len(validation.IsDNS1123Subdomain(reference.Name)) > 0 {
		return nil
	}
	key := client.ObjectKey{Namespace: o.Cluster.Namespace, Name: reference.Name}
	var err error
	switch reference.Kind {
	case "Secret":
		secret := &corev1.Secret{}
		err = o.Live.Get(ctx, key, secret)
		reference.Content = pods.SecretContent(secret)
		reference.Keys, reference.Empty, reference.Unusable = pods.SecretKeys(secret)
		reference.Sizes = pods.SecretSizes(secret)
		if err == nil && reference.Where == pods.CredentialsField {
			o.noteCredentials(secret, reference)
		}
	case "ServiceAccount":
		err = o.Live.Get(ctx, key, &corev1.ServiceAccount{})
	default:
		config := &corev1.ConfigMap{}
		err = o.Live.Get(ctx, key, config)
		reference.Content = pods.ConfigMapContent(config)
	}
	switch {
	case apierrors.IsNotFound(err):
		reference.Content = ""
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s: %w", reference.Kind, reference.Name, err)
	}
	reference.Found = true
	return nil
}

// noteCredentials records the Secret with the credentials. If they are generated, a Secret of that name that no operator
// created is a name conflict.
func (o *observation) noteCredentials(secret *corev1.Secret, reference *pods.Reference) {
	o.Credentials = state.CredentialsOf(secret, o.Cluster.Name)
	switch generates := engine.Generates(o.Cluster, o.Engine); {
	case generates && o.Credentials.Generated:
		reference.Content, reference.Own = o.Credentials.Content, true
	case generates:
		o.Foreign = append(o.Foreign, state.Ref{Kind: "Secret", Name: secret.Name})
	}
}

// readGenerated reads the Secret with the name of generated credentials, of a cluster that is being deleted. Hooks may use
// another Secret, which is of no interest here.
func (o *observation) readGenerated(ctx context.Context) {
	secret := &corev1.Secret{}
	o.Credentials = state.Credentials{}
	if o.FindLive(ctx, naming.Credentials(o.Cluster.Name), secret) {
		o.Credentials = state.CredentialsOf(secret, o.Cluster.Name)
	}
}
