/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math/big"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
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
	values, err := generated(e.Random, o.Keys)
	if err != nil {
		return nil, err
	}
	if o.Live.Found() {
		err = e.patchSecret(ctx, o.Live, map[string]any{"metadata": map[string]any{"labels": o.Object.GetLabels()}, "data": values})
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

// change executes a step of a rotation.
func (e execution) change(ctx context.Context, o operation.ChangeCredentials) error {
	data, err := generated(e.Random, o.Generate)
	if err != nil {
		return err
	}
	if o.Promote {
		promote(o, data)
	}
	if o.Remove {
		remove(o.Live, data)
	}
	annotations := map[string]any{}
	for key, value := range o.Annotations {
		annotations[key] = nil
		if value != "" {
			annotations[key] = value
		}
	}
	return e.patchSecret(ctx, o.Live, map[string]any{"metadata": map[string]any{"annotations": annotations}, "data": data})
}

// promote makes the values of a rotation the current ones.
func promote(o operation.ChangeCredentials, data map[string]any) {
	id := o.Live.Rotation
	for key, value := range o.Live.Rotated() {
		if _, rotates := o.Live.Values[state.RotatedKey(key, id)]; rotates {
			data[state.PreviousKey(key, id)] = encoded(o.Live.Values[key])
		}
		data[key] = encoded(value)
	}
}

// remove removes the keys of the rotation: the patch has null for them.
func remove(live state.Credentials, data map[string]any) {
	maps.DeleteFunc(data, func(key string, _ any) bool { return state.OfRotation(key, live.Rotation) })
	for key := range live.Values {
		if state.OfRotation(key, live.Rotation) {
			data[key] = nil
		}
	}
}

// patchSecret merges a patch into the Secret, if it has still the version that was read.
func (e execution) patchSecret(ctx context.Context, live state.Credentials, patch map[string]any) error {
	secret := e.belonging("Secret", live.Name)
	secret.SetUID(live.UID)
	secret.SetResourceVersion(live.Version)
	return e.Writer.Merge(ctx, secret, patch)
}

// encoded is a value in the JSON form of a Secret.
func encoded(value []byte) string { return base64.StdEncoding.EncodeToString(value) }

// readRotation reads the Job of the rotation in progress.
func (o *observation) readRotation(ctx context.Context) {
	if o.Credentials.Rotation == "" || !o.Credentials.GeneratedFor(o.Cluster.UID) {
		return
	}
	stage := o.Credentials.Stage(o.Cluster.Spec.Credentials.Rotation, o.At)
	job, name := &batchv1.Job{}, naming.RotationJob(o.Cluster.Name, o.Credentials.Rotation, string(stage))
	if o.Made(ctx, state.Ref{Kind: "Job", Name: name}, job) {
		o.Rotation, o.RotationStarted, o.RotatedMembers = o.Job(ctx, job), true, strings.Fields(job.Annotations[dbv1.AnnotationMembers])
	}
}

func generated(from io.Reader, keys []engine.GeneratedKey) (map[string]any, error) {
	values := map[string]any{}
	for _, key := range keys {
		value, err := random(from, key)
		if err != nil {
			return nil, fmt.Errorf("generate the value of the key %s: %w", key.Name, err)
		}
		values[key.Name] = encoded(value)
	}
	return values, nil
}

func random(from io.Reader, key engine.GeneratedKey) ([]byte, error) {
	text := make([]byte, key.Length)
	for i := range text {
		n, err := rand.Int(from, big.NewInt(int64(len(key.Characters))))
		if err != nil {
			return nil, err
		}
		text[i] = key.Characters[n.Int64()]
	}
	return text, nil
}
