/*
SPDX-License-Identifier: Apache-2.0
*/

package storage_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// volumes adds a volume for each member, with a requested and an actual size.
func volumes(o *state.Observed, sizes ...[2]string) {
	for i, s := range sizes {
		o.Volumes = append(o.Volumes, state.Volume{
			Claim: fmt.Sprintf("data-orders-%d", i), Ordinal: int32(i), Requested: resource.MustParse(s[0]), Capacity: resource.MustParse(s[1]),
		})
	}
}

func TestHowVolumesGrow(t *testing.T) {
	grown := func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse("2Gi") }
	remade := func(c *dbv1.DatabaseCluster, o *state.Observed) {
		grown(c)
		o.StatefulSet.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests["storage"] = resource.MustParse("2Gi")
	}
	decideEach(t, map[string]scenario{
		"the claims first, whatever state the members are in": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				grown(c)
				volumes(o, [2]string{"1Gi", "1Gi"}, [2]string{"2Gi", "1Gi"}, [2]string{"1Gi", "1Gi"})
				plans.Down(o, "disk full", 0, 1, 2)
			},
			"resize PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\nresize PersistentVolumeClaim data-orders-2 from 1Gi to 2Gi\n" +
				"WaitingForMembers: 0 of 3 members are ready; pod orders-0 is not ready; pod orders-1 is not ready; pod orders-2 is not ready\n",
		},
		"one that is refused keeps members from nothing": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				grown(c)
				volumes(o, [2]string{"1Gi", "1Gi"})
				plans.Outdated(o, 2)
			},
			"resize PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\nrestart orders-2\nRollingOut: 1 member is outdated; restarting pod orders-2\n",
		},
		"beside any other change": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				grown(c)
				c.Spec.Replicas = 4
				volumes(o, [2]string{"1Gi", "1Gi"})
			},
			"resize PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\nupdate StatefulSet orders (spec.replicas)\n" +
				"Applying: update StatefulSet orders (spec.replicas)\n",
		},
		"then the StatefulSet is re-created": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { grown(c); volumes(o, [2]string{"2Gi", "1Gi"}) },
			"delete the StatefulSet and orphan its pods\n" +
				"ResizingStorage: re-creating StatefulSet orders for volumes of 2Gi; its pods continue to run\n",
		},
		"which is waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				grown(c)
				o.StatefulSet.DeletionTimestamp = &metav1.Time{}
			},
			"WaitingForMembers: StatefulSet orders is terminating; the operator re-creates it after that\n",
		},
		"then the volumes are waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				remade(c, o)
				volumes(o, [2]string{"2Gi", "2Gi"}, [2]string{"2Gi", "1Gi"})
				o.Volumes[1].Resizing = "waiting for the kubelet to expand the file system"
			},
			"ResizingStorage: 1 of 2 volumes have 2Gi; PersistentVolumeClaim data-orders-1 has 1Gi: waiting for the kubelet to expand the file system\n",
		},
		"an infeasible one is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				remade(c, o)
				volumes(o, [2]string{"2Gi", "1Gi"})
				o.Volumes[0].Infeasible, o.Volumes[0].Resizing = true, "no room"
			},
			"ResizingStorage: 0 of 1 volumes have 2Gi; PersistentVolumeClaim data-orders-0 has 1Gi: no room\nSTALLED ResizeInfeasible\n",
		},
		"and asked for less when the spec is lowered": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				remade(c, o)
				volumes(o, [2]string{"9Gi", "1Gi"}, [2]string{"9Gi", "9Gi"})
				o.Volumes[0].Infeasible = true
			},
			"resize PersistentVolumeClaim data-orders-0 from 9Gi to 2Gi\n" +
				"ResizingStorage: resizing PersistentVolumeClaim data-orders-0 from 9Gi to 2Gi\nSTALLED ResizeInfeasible\n",
		},
		"a larger volume does not change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { volumes(o, [2]string{"9Gi", "9Gi"}) },
			"UpToDate: the cluster matches its spec\n",
		},
		"an unbound claim does not change": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { remade(c, o); volumes(o, [2]string{"1Gi", "0"}) },
			"UpToDate: the cluster matches its spec\n",
		},
		"retained volumes of removed members do not change": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				remade(c, o)
				volumes(o, [2]string{"2Gi", "2Gi"}, [2]string{"2Gi", "2Gi"}, [2]string{"2Gi", "2Gi"}, [2]string{"1Gi", "1Gi"})
			},
			"UpToDate: the cluster matches its spec\n",
		},
	})
}
