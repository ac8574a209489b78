/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
)

// readSecrets reads the values that the report must not have. Without the right to read them, only the form of a value is known.
func (c *collection) readSecrets(ctx context.Context) {
	var objects []map[string]any
	for _, f := range c.found {
		objects = append(objects, f.object)
	}
	for _, name := range reporting.Secrets(c.cluster, c.engine, objects) {
		secret := &corev1.Secret{}
		err := c.target.Get(ctx, types.NamespacedName{Namespace: c.target.namespace, Name: name}, secret)
		if err != nil && !apierrors.IsNotFound(err) {
			c.miss("Secret "+name+", so its values were not searched for", err)
		}
		c.hide(secret)
	}
}

// hide removes the values of a Secret from all files that are added later.
func (c *collection) hide(secret *corev1.Secret) {
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		value := string(secret.Data[key])
		switch {
		case public[key]:
		case redact.Searchable(value):
			c.secrets = c.secrets.With(value)
		default:
			c.short = append(c.short, fmt.Sprintf("Secret %s, key %s", secret.Name, key))
		}
	}
}

// public are keys of Secrets that are no secrets.
var public = map[string]bool{
	"type": true, "provider": true, "host": true, "port": true, "username": true, "database": true, "ca.crt": true, "tls.crt": true,
}
