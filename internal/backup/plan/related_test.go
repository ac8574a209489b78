/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// replicated is a world of two members with one database; the first is the primary.
func replicated() Observed {
	o := idleWorld()
	o.Engine.Spec.Topology = dbv1.TopologyPrimaryReplica
	o.Engine.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica"}
	o.Members[0].Labels, o.Members[1].Labels = map[string]string{"role": "primary"}, map[string]string{"role": "replica"}
	return o
}

func TestABackupOfOneDatabaseHasOneStream(t *testing.T) {
	b := asked()
	if p := For(b, replicated()); p.Status.Phase != dbv1.BackupRunning || p.Status.Replicas != 1 {
		t.Errorf("%s with %d members", p.Status.Phase, p.Status.Replicas)
	}
}

func TestTheSourceOfABackupIsAReadyReplicaElseThePrimary(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Observed)
		want   string
	}{
		"a replica":                           {func(*Observed) {}, "orders-1.orders-headless"},
		"the primary, if no replica is ready": {func(o *Observed) { o.Members[1].Ready = false }, "orders-0.orders-headless"},
		"whatever its ordinal is": {func(o *Observed) {
			o.Members[0].Labels, o.Members[1].Labels = o.Members[1].Labels, o.Members[0].Labels
			o.Members[0].Ready = false
		}, "orders-1.orders-headless"},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := replicated(), started()
			b.Status.Replicas = 1
			c.change(&o)
			create, found := operation.Find[CreateJob](For(b, o).Operations)
			if !found {
				t.Fatal("no Job")
			}
			if got := variableOf(t, create.Job.Object, "DBC_MEMBER"); got != c.want {
				t.Errorf("the source is %q, want %q", got, c.want)
			}
		})
	}
}

func variableOf(t *testing.T, job *unstructured.Unstructured, name string) string {
	t.Helper()
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	variables, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "env")
	for _, v := range variables {
		if v := v.(map[string]any); v["name"] == name {
			return v["value"].(string)
		}
	}
	return ""
}
