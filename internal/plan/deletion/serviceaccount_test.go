/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestAHookStartsOnlyAsTheServiceAccountOfItsCluster(t *testing.T) {
	const (
		problem = "ServiceAccount orders does not exist or was not created for DatabaseCluster orders"
		remedy  = ". Set spec.serviceAccount.name instead of spec.serviceAccount.annotations" + skipNote + "\n"
		starts  = "start deletion hook \"run\" as Job orders-run-0a1b2c3d\nHookRunning: starting deletion hook \"run\"\nrun Running\n"
		waits   = "HookFailed: deletion hook \"run\" cannot start: " + problem + "\nagain in 10s\n"
		failed  = "deletion hook \"run\" cannot start: " + problem + remedy + "run Failed\n"
		begins  = "scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\nagain in 10s\n"
	)
	account := func(o *state.Observed, uid string) {
		o.ServiceAccount = &corev1.ServiceAccount{}
		o.ServiceAccount.Labels = map[string]string{dbv1.LabelClusterUID: uid}
	}
	foreign := func(o *state.Observed) { o.Foreign = []state.Ref{{Kind: "ServiceAccount", Name: "orders"}} }
	annotated := func(change func(*dbv1.DatabaseCluster, *state.Observed)) doom {
		return doom{hooks: []dbv1.HookType{dbv1.HookCommand}, change: func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
			change(c, o)
		}}
	}
	wants := func(d doom, want string) doom { d.want = want; return d }
	decideDooms(t, map[string]doom{
		"its own": wants(annotated(func(_ *dbv1.DatabaseCluster, o *state.Observed) { account(o, plans.UID) }), starts),
		"another owner has it": wants(annotated(func(_ *dbv1.DatabaseCluster, o *state.Observed) { foreign(o) }),
			waits+"STALLED NameConflict\n"+failed),
		"it is missing, and another owner may create it": wants(annotated(func(*dbv1.DatabaseCluster, *state.Observed) {}),
			waits+"STALLED HookFailed\n"+failed),
		"it is of a previous cluster of the same name": wants(annotated(func(_ *dbv1.DatabaseCluster, o *state.Observed) { account(o, "earlier") }),
			waits+"STALLED HookFailed\n"+failed),
		"the user names another one": wants(annotated(func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.ServiceAccount = dbv1.ClusterServiceAccount{Name: "databases"}
		}), starts),
		"the user skips the hooks":              wants(annotated(func(c *dbv1.DatabaseCluster, o *state.Observed) { foreign(o); skip(c) }), begins+"run Skipped\n"),
		"the deletion continues after failures": wants(annotated(func(c *dbv1.DatabaseCluster, o *state.Observed) { foreign(o); goOn(c) }), begins+"run Failed\n"),
	})
}

func TestAFinalBackupStartsOnlyAsTheServiceAccountOfItsCluster(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookBackup)
	cluster.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
	observed.Foreign = []state.Ref{{Kind: "ServiceAccount", Name: "orders"}}
	p := plans.Decide(cluster, observed)
	if p.Hooks[0].Phase != dbv1.HookFailed || p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonNameConflict || p.RequeueAfter != situation.MissingRequeue {
		t.Error(report(p))
	}
}
