/*
SPDX-License-Identifier: Apache-2.0
*/

package plans

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/identity"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Label is the label with the role of a member in these tests.
const Label = "role"

// Related returns the effective cluster of three members with one database, and its observed state after it converged: member 0 is the
// primary.
func Related(t *testing.T, topology dbv1.EngineTopology) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	declared := engineOf(topology)
	cluster := Orders()
	cluster.Spec.Engine = declared.Name
	cluster.Status.UpdateRevision = "new"
	cluster.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonReady}}
	return cluster, standingWith(t, cluster, declared)
}

func engineOf(topology dbv1.EngineTopology) *dbv1.DatabaseEngine {
	action := func(name string) *dbv1.EngineAction { return &dbv1.EngineAction{Command: []string{name}} }
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.Topology = topology
	declared.Spec.Actions.Initialize = action("initialize")
	declared.Spec.Container.ReadinessProbe = &corev1.Probe{}
	if topology == dbv1.TopologyConsensus {
		declared.Spec.Actions.MemberRemove = action("memberRemove")
		return declared
	}
	declared.Spec.Roles = &dbv1.EngineRoles{Label: Label, Primary: "primary", Replica: "replica", LockSeconds: 30}
	declared.Spec.State = &dbv1.EngineState{ConfigMaps: []string{"leader"},
		Lock: &dbv1.EngineLock{ConfigMap: "leader", Holder: "holder", Term: "term"}}
	declared.Spec.Actions.HandOver = action("handOver")
	return declared
}

func standingWith(t *testing.T, declaredCluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) state.Observed {
	t.Helper()
	c := engine.Resolve(declaredCluster, declared)
	o := Standing(t, c)
	o.Engine = declared
	o.StatefulSet.UID = "set"
	for i := range o.Members {
		m := &o.Members[i]
		m.UID, m.Created = types.UID(fmt.Sprintf("pod-%d", i)), Ago(time.Hour)
		o.Volumes = append(o.Volumes, state.Volume{
			Claim: naming.Claim(c, m.Ordinal), UID: types.UID(fmt.Sprintf("claim-%d", i)), Ordinal: m.Ordinal, Managed: true,
			Requested: c.Spec.Storage.Size, Capacity: c.Spec.Storage.Size, Contents: state.Contents{Cluster: UID, Engine: declared.Name},
		})
	}
	if declared.Spec.Roles == nil {
		for i := range o.Volumes {
			o.Volumes[i].Voters = c.Spec.Replicas
		}
		return o
	}
	Roles(&o, "primary", "replica", "replica")
	o.Service = live[corev1.Service](t, resources.Service(c, declared))
	o.ReplicasService = live[corev1.Service](t, resources.ReplicasService(c, declared))
	o.ServiceAccount = live[corev1.ServiceAccount](t, identity.ServiceAccount(c))
	o.Role = live[rbacv1.Role](t, identity.Role(c, declared))
	o.RoleBinding = live[rbacv1.RoleBinding](t, identity.RoleBinding(c))
	return o
}

// Volumes gives the cluster the volumes of more members, with the contents of the second one.
func Volumes(o *state.Observed, number int32) {
	for ordinal := int32(len(o.Volumes)); ordinal < number; ordinal++ {
		v := o.Volumes[1]
		v.Claim, v.UID, v.Ordinal = naming.ClaimIn(naming.DataVolume, "orders", ordinal), types.UID(fmt.Sprintf("claim-%d", ordinal)), ordinal
		o.Volumes = append(o.Volumes, v)
	}
}

// Roles labels the members with their roles, by ordinal; "" for none. The record of the last primary follows, if there is one.
func Roles(o *state.Observed, roles ...string) {
	for i, role := range roles {
		o.Members[i].Labels = map[string]string{Label: role}
	}
	if primary, found := o.Primary(); found && len(o.Volumes) > 0 {
		o.Volumes[0].Primary = primary.Name
	}
}

// Agreed returns the agreement of this cluster.
func Agreed() []state.Agreement {
	return []state.Agreement{{Name: "orders-leader", UID: "agreed", Cluster: UID}}
}

// Task returns a Job that has ended, a moment ago.
func Task(job string, succeeded bool) jobs.Job {
	return jobs.Job{Name: job, UID: "job", Succeeded: succeeded, Failed: !succeeded, Started: true, EndTime: Ago(time.Second)}
}

// Guarded gives the primary its own PodDisruptionBudget.
func Guarded(t testing.TB, c *dbv1.DatabaseCluster, o *state.Observed) {
	t.Helper()
	roles := o.Engine.Spec.Roles
	o.PodDisruptionBudget = live[policyv1.PodDisruptionBudget](t, resources.ReplicasBudget(c, roles))
	o.PrimaryBudget = live[policyv1.PodDisruptionBudget](t, resources.PrimaryBudget(c, roles))
}
