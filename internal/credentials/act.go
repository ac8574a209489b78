/*
SPDX-License-Identifier: Apache-2.0
*/

package credentials

import (
	"context"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Act creates the Secret with generated credentials, or adds keys to it. It never changes a value: a Secret that
// exists already is an error, and a patch is locked on the version that was read.
func (g Generate) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	values, err := m.Generate(g.Keys)
	if err != nil {
		return nil, err
	}
	if g.Live.Found() {
		err = m.PatchSecret(ctx, g.Live, map[string]any{"metadata": map[string]any{"labels": g.Object.GetLabels()}, "data": values})
	} else {
		secret := g.Object.DeepCopy()
		secret.Object["data"] = values
		_, err = m.Writer.Create(ctx, secret)
	}
	if err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("CredentialsGenerated", "Generate", g.String())}, nil
}
