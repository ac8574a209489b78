/*
SPDX-License-Identifier: Apache-2.0
*/

package connection

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// read reads the connection Secret.
func read(ctx context.Context, o *subject.ClusterReading) {
	if o.Cluster.DeletionTimestamp != nil {
		return
	}
	described := o.Engine != nil && o.Engine.Spec.Connection != nil
	if !described && o.Cluster.Status.Binding == nil {
		return
	}
	secret, name := &corev1.Secret{}, naming.Connection(o.Cluster.Name)
	o.Connection = subject.Owned(o, state.Ref{Kind: "Secret", Name: name}, secret, o.FindLive(ctx, name, secret), state.SecretFacts)
}
