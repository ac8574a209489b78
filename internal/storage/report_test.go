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
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestAResizeIsReportedFromItsStartAndAfterItsEnd(t *testing.T) {
	status := &dbv1.DatabaseClusterStatus{}
	reported := func(capacity string, infeasible bool) string {
		cluster := plans.Orders()
		observed := plans.Standing(t, cluster)
		observed.Volumes = []state.Volume{{Claim: "data-orders-0", Requested: resource.MustParse("1Gi"), Capacity: resource.MustParse(capacity), Infeasible: infeasible}}
		all := storage.Subject.Decide(situation.Of(cluster, observed)).Report(subject.Executed{Stalled: &situation.Stall{Reason: dbv1.ReasonReloadFailed}}, status)
		if len(all) == 0 {
			return ""
		}
		status.Conditions = all
		return string(all[0].Status) + " " + all[0].Reason + ": " + all[0].Message
	}
	for _, c := range []struct {
		name, capacity string
		infeasible     bool
		want           string
	}{
		{"never", "1Gi", false, ""},
		{"in progress", "500Mi", false, "True Resizing: 0 of 1 volumes have 1Gi; PersistentVolumeClaim data-orders-0 has 500Mi"},
		{
			"impossible, beside another stall", "500Mi", true, "True ResizeInfeasible: PersistentVolumeClaim data-orders-0 has 500Mi and cannot be expanded to 1Gi: . " +
				"Set spec.storage.size to a size between 500Mi and 1Gi that the storage has room for",
		},
		{"done", "1Gi", false, "False Resized: all volumes have the size in spec.storage.size"},
	} {
		if got := reported(c.capacity, c.infeasible); got != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}
