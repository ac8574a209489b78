/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// readConnection reads the connection Secret.
func (o *observation) readConnection(ctx context.Context) {
	described := o.Engine != nil && o.Engine.Spec.Connection != nil
	if !described && o.cluster.Status.Binding == nil {
		return
	}
	secret, name := &corev1.Secret{}, naming.Connection(o.cluster.Name)
	o.Connection = owned(o, state.Ref{Kind: "Secret", Name: name}, secret, o.FindLive(ctx, name, secret), state.SecretFacts)
}

// readGenerated reads the Secret with generated credentials of a cluster that is being deleted.
func (o *observation) readGenerated(ctx context.Context) {
	secret := &corev1.Secret{}
	if !o.FindLive(ctx, naming.Credentials(o.cluster.Name), secret) {
		return
	}
	if found := state.CredentialsOf(secret, o.cluster.Name); found.Generated && found.Cluster == o.cluster.UID {
		o.Credentials = found
	}
}

// generate creates the Secret with generated credentials, or adds keys to it. It never changes a value: a Secret that
// exists already is an error, and a patch is locked on the version that was read.
func (e execution) generate(ctx context.Context, o operation.GenerateCredentials) ([]kit.Event, error) {
	values, err := generated(o.Keys)
	if err != nil {
		return nil, err
	}
	if !o.Live.Found() {
		_, err = e.Writer.Make(ctx, withValues(o.Object.DeepCopy(), values))
	} else {
		err = e.extend(ctx, o, values)
	}
	if err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("CredentialsGenerated", "Generate", o.String())}, nil
}

// extend adds keys to a Secret, and the labels of the cluster.
func (e execution) extend(ctx context.Context, o operation.GenerateCredentials, values map[string]any) error {
	before := e.belonging(o.Kind(), o.Name())
	before.SetResourceVersion(o.Live.Version)
	after := before.DeepCopy()
	after.SetLabels(o.Object.GetLabels())
	return e.Writer.Change(ctx, before, withValues(after, values))
}

func withValues(secret *unstructured.Unstructured, values map[string]any) *unstructured.Unstructured {
	if len(values) > 0 {
		secret.Object["stringData"] = values
	}
	return secret
}

func generated(keys []engine.GeneratedKey) (map[string]any, error) {
	values := map[string]any{}
	for _, key := range keys {
		value, err := random(key)
		if err != nil {
			return nil, fmt.Errorf("generate the value of the key %s: %w", key.Name, err)
		}
		values[key.Name] = value
	}
	return values, nil
}

func random(key engine.GeneratedKey) (string, error) {
	text := make([]byte, key.Length)
	for i := range text {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(key.Characters))))
		if err != nil {
			return "", err
		}
		text[i] = key.Characters[n.Int64()]
	}
	return string(text), nil
}
