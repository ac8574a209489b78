/*
SPDX-License-Identifier: Apache-2.0
*/

package storage_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/storage"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestHowVolumesGetTheirAttributes(t *testing.T) {
	gold := func(c *dbv1.DatabaseCluster) { c.Spec.Storage.VolumeAttributesClassName = "gold" }
	classes := func(o *state.Observed, wanted, is string) {
		volumes(o, [2]string{"1Gi", "1Gi"})
		o.Volumes[0].Class, o.Volumes[0].CurrentClass = wanted, is
	}
	templated := func(o *state.Observed, class string) {
		o.StatefulSet.Spec.VolumeClaimTemplates[0].Spec.VolumeAttributesClassName = &class
	}
	const waits = "ModifyingStorage: PersistentVolumeClaim data-orders-0 does not have the attributes of VolumeAttributesClass gold: "
	decideEach(t, map[string]scenario{
		"the claims first, also while members are down": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				classes(o, "silver", "silver")
				plans.Down(o, "slow", 0, 1, 2)
			},
			"modify PersistentVolumeClaim data-orders-0 to VolumeAttributesClass gold\n" +
				"WaitingForMembers: 0 of 3 members are ready; pod orders-0 is not ready; pod orders-1 is not ready; pod orders-2 is not ready\n",
		},
		"a claim that grows in this pass follows": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				c.Spec.Storage.Size = resource.MustParse("2Gi")
				classes(o, "", "")
			},
			"resize PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\n" +
				"ResizingStorage: resizing PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\n",
		},
		"a claim that is not bound stays": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				volumes(o, [2]string{"1Gi", "0"})
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"then the StatefulSet is re-created": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { gold(c); classes(o, "gold", "") },
			"delete the StatefulSet and orphan its pods\n" +
				"ResizingStorage: re-creating StatefulSet orders for volumes of 1Gi with VolumeAttributesClass gold; its pods continue to run\n",
		},
		"then the CSI driver is waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				classes(o, "gold", "silver")
				templated(o, "gold")
			},
			waits + "the CSI driver has not modified the volume yet\n",
		},
		"whose error is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				classes(o, "gold", "silver")
				templated(o, "gold")
				o.Volumes[0].Modifying = "quota of the cloud"
			},
			waits + "quota of the cloud\n",
		},
		"an impossible change is reported, and no new claim asks for it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				classes(o, "gold", "silver")
				o.Volumes[0].Unmodifiable, o.Volumes[0].Modifying = true, "too many IOPS"
			},
			waits + "too many IOPS\nSTALLED ModifyInfeasible\n",
		},
		"a removed name changes no claim, but those of new members": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { classes(o, "gold", "gold"); templated(o, "gold") },
			"delete the StatefulSet and orphan its pods\nResizingStorage: re-creating StatefulSet orders for volumes of 1Gi; its pods continue to run\n",
		},
		"an API server without classes gets no request": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				gold(c)
				classes(o, "", "")
				o.NoAttributesClasses = true
			},
			"UpToDate: the cluster matches its spec\nSTALLED ModifyInfeasible\n",
		},
	})
}

func TestAnAPIServerWithoutVolumeAttributesClassesIsNamedWithTheRemedy(t *testing.T) {
	cluster := plans.Orders()
	cluster.Spec.Storage.VolumeAttributesClassName = "gold"
	observed := plans.Standing(t, plans.Orders())
	observed.NoAttributesClasses = true
	stall := storage.Subject.Decide(situation.Of(cluster, observed)).Stalled
	const want = "the API server does not serve VolumeAttributesClasses, so spec.storage.volumeAttributesClassName gold has no effect. Remove it, or use Kubernetes 1.34 or newer"
	if stall == nil || stall.Message != want {
		t.Errorf("got %+v", stall)
	}
}
