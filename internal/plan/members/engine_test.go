/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const (
	noEngine = "WaitingForReference: spec.engine names DatabaseEngine ledger-v1, which does not exist: create it, or choose one from kubectl get databaseengines\n" +
		"again in 10s\nSTALLED EngineMissing\n"
	noParameter = "WaitingForReference: spec.parameters sets \"cash\", which DatabaseEngine ledger-v1 does not offer. It offers none. Correct or remove the parameter\n" +
		"again in 10s\nSTALLED InvalidParameter\n"
)

func ledger() *dbv1.DatabaseEngine {
	e := &dbv1.DatabaseEngine{}
	e.Name = "ledger-v1"
	return e
}

func TestAMissingOrIncompatibleEngineBlocksTheMembers(t *testing.T) {
	decideEach(t, map[string]scenario{
		"one that is missing leaves a running cluster as it is, also its Services, whose port it may have given": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.Engine, c.Spec.Container.Port = "ledger-v1", 1
			}, noEngine,
		},
		"one that is missing lets a new cluster have no member": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, *o = "ledger-v1", state.Observed{PodDisruptionBudget: o.PodDisruptionBudget, NetworkPolicy: o.NetworkPolicy}
			},
			noEngine,
		},
		"one that is missing gives no StatefulSet to members that lack one": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Engine, o.StatefulSet = "ledger-v1", nil }, noEngine,
		},
		"while it is missing the StatefulSet is not re-created": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.Engine, c.Spec.Storage.Size = "ledger-v1", resource.MustParse("9Gi")
			}, noEngine,
		},
		"one that is missing keeps all members, because they may decide by a majority": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Engine, c.Spec.Replicas = "ledger-v1", 1 }, noEngine,
		},
		"one that is missing stops no member for a hibernation, because one may have to hand over": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Engine, c.Spec.Hibernated = "ledger-v1", true }, noEngine,
		},
		"an even number that the engine refuses keeps all members": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.Spec.Replicas, o.Engine = "ledger-v1", 2, ledger()
				o.Engine.Spec.Replicas.Odd = true
			},
			"WaitingForReference: spec.replicas is 2, but DatabaseEngine ledger-v1 needs an odd number of members, because they decide by a majority: " +
				"set spec.replicas to 1 or 3\nagain in 10s\nSTALLED InvalidReplicas\n",
		},
		"a hibernation does not depend on the number": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.Spec.Replicas, c.Spec.Hibernated, o.Engine = "ledger-v1", 2, true, ledger()
				o.Engine.Spec.Replicas.Odd = true
			},
			"scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\nagain in 10s\nSTALLED InvalidReplicas\n",
		},
		"members are still removed if a parameter is refused": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.Spec.Replicas, o.Engine = "ledger-v1", 1, ledger()
				c.Spec.Parameters = map[string]string{"cash": "1"}
			},
			"scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\nagain in 10s\nSTALLED InvalidParameter\n",
		},
		"a deletion does not depend on it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.DeletionTimestamp, o.StatefulSet, o.Members = "ledger-v1", &metav1.Time{}, nil, nil
			},
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\n",
		},
		"a forbidden read is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.EngineUnreadable = "ledger-v1", "forbidden"
			},
			"WaitingForReference: DatabaseEngine ledger-v1, which spec.engine names, cannot be read: forbidden. Grant the operator permission to get databaseengines\n" +
				"again in 10s\nSTALLED EngineMissing\n",
		},
		"a parameter that there is not keeps the members as they are": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.Engine = "ledger-v1", ledger()
				c.Spec.Image, c.Spec.Parameters = "database:2", map[string]string{"cash": "1"}
			}, noParameter,
		},
		"one with a flaw stops no cluster that has members": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.Engine = "ledger-v1", ledger()
				o.Engine.Spec.Container.Args = []string{"$(DBC_PARAM_CASH)"}
				c.Spec.Image = "database:2"
			},
			"update StatefulSet orders (spec.template)\nApplying: update StatefulSet orders (spec.template)\n",
		},
		"a new cluster with such a one has no member": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, o.Engine = "ledger-v1", ledger()
				o.Engine.Spec.Container.Args = []string{"$(DBC_PARAM_CASH)"}
				o.StatefulSet, o.Members = nil, nil
			},
			"WaitingForReference: DatabaseEngine ledger-v1 is invalid: spec.container.args[0] refers to $(DBC_PARAM_CASH), " +
				"but spec.parameters does not define that variable; it defines none. Create a corrected DatabaseEngine under another name, and set spec.engine of the clusters to it\n" +
				"again in 10s\nSTALLED InvalidEngine\n",
		},
		"a Secret without a key is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.Spec.Credentials.SecretName, o.Engine = "ledger-v1", "orders", ledger()
				o.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password"}}
				o.References = []pods.Reference{{Kind: "Secret", Name: "orders", Found: true, Keys: []string{"word"}}}
			},
			"WaitingForReference: Secret orders in spec.credentials.secretName lacks the key password, which DatabaseEngine ledger-v1 needs: add it to the Secret\n" +
				"again in 10s\nSTALLED SecretIncomplete\n",
		},
		"a Secret with an empty key is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Engine, c.Spec.Credentials.SecretName, o.Engine = "ledger-v1", "orders", ledger()
				o.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password"}}
				o.References = []pods.Reference{{Kind: "Secret", Name: "orders", Found: true, Keys: []string{"password"}, Empty: []string{"password"}}}
			},
			"WaitingForReference: Secret orders in spec.credentials.secretName has no value for the key password, which DatabaseEngine ledger-v1 needs: set it in the Secret\n" +
				"again in 10s\nSTALLED SecretIncomplete\n",
		},
		"a restore that the engine does not support is reported before members exist": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "b"}}
				o.StatefulSet, o.Members = nil, nil
			},
			"WaitingForReference: spec.bootstrap.fromBackup needs an engine with the action restore: set spec.engine to one, or remove the field\n" +
				"again in 10s\nSTALLED ActionMissing\n",
		},
		"and matters no more once there are": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "b"}}
			},
			"UpToDate: the cluster matches its spec\n",
		},
	})
}

func TestTheStallHasTheRemedyAndTheConsequence(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	cluster.Spec.Engine = "ledger-v1"
	got := plans.Decide(cluster, observed).Stalled.Message
	if !strings.HasSuffix(got, "kubectl get databaseengines. Until you correct this, the operator does not start, restart or remove members") {
		t.Error(got)
	}
}
