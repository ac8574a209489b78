/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Acting is an operation of a subject that needs more than a write of what was decided: random values, a private key, or the response
// to a request.
type Acting interface {
	operation.Operation
	// Act executes the operation, and returns the events about it.
	Act(context.Context, Means) ([]kit.Event, error)
}

// Means are what an acting operation may use.
type Means struct {
	Cluster *dbv1.DatabaseCluster
	Writer  apply.Writer
	// Live reads from the API server.
	Live client.Reader
	// Random is the source of generated passwords.
	Random io.Reader
	// At is the time of the pass.
	At time.Time
}

// PatchSecret merges a patch into the Secret, if it has still the version that was read.
func (m Means) PatchSecret(ctx context.Context, live state.Credentials, patch map[string]any) error {
	secret := operation.Target{Kind: operation.Core("Secret"), Name: live.Name, UID: live.UID, Version: live.Version}
	return m.Writer.Merge(ctx, secret.In(m.Cluster.Namespace), patch)
}

// Authority reads the CA of a cluster, if its Secret has still the version that was read.
func (m Means) Authority(ctx context.Context, namespace string, live state.Certificate) (pki.Authority, error) {
	secret := &corev1.Secret{}
	if err := m.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: live.Name}, secret); err != nil {
		return pki.Authority{}, fmt.Errorf("read Secret %s: %w", live.Name, err)
	}
	if secret.UID != live.UID || secret.ResourceVersion != live.Version {
		return pki.Authority{}, apierrors.NewConflict(corev1.Resource("secrets"), live.Name, errors.New("it has changed since it was read"))
	}
	return pki.ParseAuthority(secret.Data)
}

// Encoded is a value in the JSON form of a Secret.
func Encoded(value []byte) string { return base64.StdEncoding.EncodeToString(value) }

// Generate returns random values, in the JSON form of a Secret.
func (m Means) Generate(keys []engine.GeneratedKey) (map[string]any, error) {
	values := map[string]any{}
	for _, key := range keys {
		value, err := random(m.Random, key)
		if err != nil {
			return nil, fmt.Errorf("generate the value of the key %s: %w", key.Name, err)
		}
		values[key.Name] = Encoded(value)
	}
	return values, nil
}

// suffix are the characters of random names, and how many a name gets: too many to guess.
var suffix = engine.GeneratedKey{Name: "name", Length: 10, Characters: "bcdfghjklmnpqrstvwxz2456789"}

// Suffix is a random end of the name of an object.
func (m Means) Suffix() (string, error) {
	text, err := random(m.Random, suffix)
	if err != nil {
		return "", fmt.Errorf("generate a name: %w", err)
	}
	return string(text), nil
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
