/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// A change of the primary waits neither for companions nor for an owner who has the name of their Service.
func TestAHandOverFindsCompanionsOnlyBehindTheServiceOfTheCluster(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*state.Observed)
		finds  bool
		stall  string
	}{
		"no companion can pause":        {func(*state.Observed) {}, false, ""},
		"one can":                       {func(o *state.Observed) { o.Companions = &corev1.Service{} }, true, ""},
		"another owner has the Service": {func(o *state.Observed) { o.Foreign = []state.Ref{{Kind: "Service", Name: "orders-companions"}} }, false, dbv1.ReasonNameConflict},
	} {
		cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
		plans.Outdated(&observed, 0)
		c.change(&observed)
		p := plans.Decide(cluster, observed)
		job, found := plans.Find[operation.Create](p, "create Job")
		if !found {
			t.Fatalf("%s: no hand-over: %s", name, plans.Text(p))
		}
		text := fmt.Sprint(job.Objects[0].Object.Object)
		if finds := strings.Contains(text, "name:DBC_COMPANIONS_HOST value:orders-companions."); finds != c.finds || stall(p) != c.stall {
			t.Errorf("%s: it finds them: %v, %s", name, finds, plans.Text(p))
		}
	}
}

func stall(p plan.Plan) string {
	if p.Stalled == nil {
		return ""
	}
	return p.Stalled.Reason
}
