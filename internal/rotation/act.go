/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"context"
	"maps"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Act executes a step of a rotation.
func (o ChangeCredentials) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	data, err := m.Generate(o.Generate)
	if err != nil {
		return nil, err
	}
	if o.Promote {
		promoteIn(o, data)
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
	return nil, m.PatchSecret(ctx, o.Live, map[string]any{"metadata": map[string]any{"annotations": annotations}, "data": data})
}

// promoteIn makes the values of a rotation the current ones.
func promoteIn(o ChangeCredentials, data map[string]any) {
	id := o.Live.Rotation
	for key, value := range o.Live.Rotated() {
		if _, rotates := o.Live.Values[state.RotatedKey(key, id)]; rotates {
			data[state.PreviousKey(key, id)] = subject.Encoded(o.Live.Values[key])
		}
		data[key] = subject.Encoded(value)
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
