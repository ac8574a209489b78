/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

func TestTheJobOfARotationMountsKeysThatTheSecretHas(t *testing.T) {
	const id = "0a1b2c3d"
	values := func(all ...string) state.Values {
		v := state.Values{}
		for _, one := range all {
			key, value, _ := strings.Cut(one, "=")
			v[key] = []byte(value)
		}
		return v
	}
	promoted := values("password=N", "password."+id+"=N", "password."+id+".previous=O")
	cases := map[string]struct {
		values state.Values
		stage  state.Stage
		want   string
	}{
		"the new password is stored":         {values("password=O", "password."+id+"=N"), state.StageRotate, "password.previous: O, password: N"},
		"clients have it":                    {promoted, state.StageRotate, "password.previous: O, password: N"},
		"the previous one is to be removed":  {promoted, state.StageRetire, "password: N"},
		"the engine declares another key":    {values("password=O", "password."+id+"=N", "monitor=M"), state.StageRotate, "monitor: M, password.previous: O, password: N"},
		"also after clients have the former": {values("password=N", "password."+id+"=N", "password."+id+".previous=O", "monitor=M"), state.StageRetire, "monitor: M, password: N"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := &dbv1.DatabaseEngine{}
			e.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"rotate"}}
			for _, key := range slices.Sorted(maps.Keys(state.Current(c.values, id))) {
				e.Spec.SecretKeys = append(e.Spec.SecretKeys, dbv1.EngineSecretKey{Name: key})
			}
			cluster := golden.Input(t, "full")
			job := golden.Live[batchv1.Job](t, rotationJob(cluster, e, state.Credentials{Rotation: id, Values: c.values}, c.stage, nil))
			var got []string
			for _, volume := range job.Spec.Template.Spec.Volumes {
				if volume.Name == naming.SecretsVolume {
					for _, item := range volume.Secret.Items {
						got = append(got, fmt.Sprintf("%s: %s", item.Path, c.values[item.Key]))
					}
				}
			}
			if slices.Sort(got); strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
