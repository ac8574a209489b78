/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// tunable lets clusters change the lifetime of the lock, 40 s by default. The StatefulSet records what the action configure put in force.
func tunable(value string, recorded ...int32) func(*dbv1.DatabaseCluster, *state.Observed) {
	return func(c *dbv1.DatabaseCluster, o *state.Observed) {
		o.Engine.Spec.Roles.LockParameter = "ttl"
		o.Engine.Spec.Parameters = []dbv1.EngineParameter{{Name: "ttl", Default: "40"}}
		o.Engine.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
		if value != "" {
			c.Spec.Parameters = map[string]string{"ttl": value}
		}
		for _, seconds := range recorded {
			c.Status.Configuration = &dbv1.ClusterConfigurationStatus{State: dbv1.ConfigurationInForce, Hash: "hash", LockSeconds: seconds}
		}
	}
}

func TestTheLockLivesAsLongAsTheParameterInForce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   time.Duration
	}{
		"an engine without the parameter":     {func(*dbv1.DatabaseCluster, *state.Observed) {}, 30 * time.Second},
		"the default":                         {tunable(""), 40 * time.Second},
		"before anything is recorded":         {tunable("120"), 2 * time.Minute},
		"in force":                            {tunable("120", 120), 2 * time.Minute},
		"a longer one is not in force yet":    {tunable("120", 40), 2 * time.Minute},
		"nor a shorter one":                   {tunable("20", 120), 2 * time.Minute},
		"a record without it":                 {tunable("120", 0), 2 * time.Minute},
		"without a StatefulSet":               {all(tunable("120"), withoutStatefulSet), 2 * time.Minute},
		"nor without one, while volumes grow": {all(tunable("20", 120), withoutStatefulSet), 2 * time.Minute},
		"of a previous version of the operator": {
			all(tunable("20"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet.Annotations[dbv1.AnnotationConfigured] = "hash/120"
			}), 2 * time.Minute,
		},
	} {
		cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
		c.change(cluster, &observed)
		if got := situation.Of(cluster, observed).Lock(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTheRecordOfAConfigurationHasTheLifetimeOfTheLock(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	tunable("120")(cluster, &observed)
	wanted := situation.Of(cluster, observed).InForce()
	if wanted.LockSeconds != 120 {
		t.Fatalf("it is %v", wanted)
	}
	cluster.Status.Configuration = wanted
	if got := plans.Text(plans.Decide(cluster, observed)); got != "UpToDate: the cluster matches its spec\n" {
		t.Errorf("a configuration that is in force: %s", got)
	}
	observed.Members[0].Ready, observed.Members[0].ReadySince = false, plans.Ago(61*time.Second)
	observed.AgreementsRead, observed.Agreements = true, plans.Agreed()
	plans.Outdated(&observed, 0, 1, 2)
	const want = "RollingOut: 3 members are outdated; waiting for pod orders-0 to stay ready\nagain in 2m59s\n"
	if got := plans.Text(plans.Decide(cluster, observed)); got != want {
		t.Errorf("a primary that may still recover: %swant %s", got, want)
	}
}
