/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// readConnection reads the connection Secret.
func (o *observation) readConnection(ctx context.Context) {
	described := o.Engine != nil && o.Engine.Spec.Connection != nil
	if !described && o.Cluster.Status.Binding == nil {
		return
	}
	secret, name := &corev1.Secret{}, naming.Connection(o.Cluster.Name)
	o.Connection = subject.Owned(&o.Reading, state.Ref{Kind: "Secret", Name: name}, secret, o.FindLive(ctx, name, secret), state.SecretFacts)
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

// generate creates the Secret with generated credentials, or adds keys to it. It never changes a value: a Secret that
// exists already is an error, and a patch is locked on the version that was read.
func (e execution) generate(ctx context.Context, o operation.GenerateCredentials) ([]kit.Event, error) {
	values, err := e.hands().Generate(o.Keys)
	if err != nil {
		return nil, err
	}
	if o.Live.Found() {
		err = e.hands().PatchSecret(ctx, o.Live, map[string]any{"metadata": map[string]any{"labels": o.Object.GetLabels()}, "data": values})
	} else {
		secret := o.Object.DeepCopy()
		secret.Object["data"] = values
		_, err = e.Writer.Create(ctx, secret)
	}
	if err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("CredentialsGenerated", "Generate", o.String())}, nil
}
