/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestGeneratedCredentialsStayAsLongAsAVolume(t *testing.T) {
	ended := func(volumes ...state.Volume) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			*o.StatefulSet.Spec.Replicas, o.Members, o.Volumes = 0, nil, volumes
			o.Credentials = state.Credentials{Name: "orders-credentials", UID: "s", Generated: true, Cluster: plans.UID}
		}
	}
	with := func(change func(*state.Credentials)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			ended()(c, o)
			change(&o.Credentials)
		}
	}
	const stays = "remove the finalizer\nDeleting: all members have stopped; no volumes remain\n"
	terminating := plans.KeptVolumes()[:1]
	terminating[0].Terminating = true
	const none = "delete Secret orders-credentials: no volume remains\nremove the finalizer\nDeleting: all members have stopped; no volumes remain\n"
	decideDooms(t, map[string]doom{
		"a volume remains": {
			nil, ended(plans.KeptVolumes()[:1]...),
			"remove the finalizer\nDeleting: all members have stopped; retained: PersistentVolumeClaim data-orders-0\n",
		},
		"it is a Secret of the user":     {nil, with(func(c *state.Credentials) { c.Generated = false }), stays},
		"it belongs to another cluster":  {nil, with(func(c *state.Credentials) { c.Cluster = "another" }), stays},
		"no volume remains":              {nil, ended(), none},
		"the last volume is terminating": {nil, ended(terminating...), none},
	})
}
