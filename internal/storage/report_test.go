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
	reported := func(capacity string, stalled *situation.Stall) string {
		cluster := plans.Orders()
		observed := plans.Standing(t, cluster)
		observed.Volumes = []state.Volume{{Claim: "data-orders-0", Requested: resource.MustParse("1Gi"), Capacity: resource.MustParse(capacity)}}
		all := storage.Subject.Decide(situation.Of(cluster, observed)).Report(subject.Executed{Stalled: stalled}, status)
		if len(all) == 0 {
			return ""
		}
		status.Conditions = all
		return string(all[0].Status) + " " + all[0].Reason + ": " + all[0].Message
	}
	for _, c := range []struct {
		name, capacity string
		stalled        *situation.Stall
		want           string
	}{
		{"never", "1Gi", nil, ""},
		{"in progress", "500Mi", nil, "True Resizing: 0 of 1 volumes have 1Gi; PersistentVolumeClaim data-orders-0 has 500Mi"},
		{"impossible", "500Mi", &situation.Stall{Reason: dbv1.ReasonResizeInfeasible, Message: "no room"}, "True ResizeInfeasible: no room"},
		{"done", "1Gi", nil, "False Resized: all volumes have the size in spec.storage.size"},
	} {
		if got := reported(c.capacity, c.stalled); got != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}
