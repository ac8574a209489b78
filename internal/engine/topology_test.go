/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// replicated is an engine whose members have one database and a primary.
func replicated() *dbv1.DatabaseEngine {
	e := ledger()
	e.Spec.Topology = dbv1.TopologyPrimaryReplica
	e.Spec.Roles = &dbv1.EngineRoles{Label: "database.dbcluster.io/role", Primary: "primary", Replica: "replica", LockSeconds: 30}
	e.Spec.State = &dbv1.EngineState{ConfigMaps: []string{"leader", "failover"}}
	e.Spec.Actions.Initialize = &dbv1.EngineAction{Command: []string{"initialize"}}
	e.Spec.Actions.HandOver = &dbv1.EngineAction{Command: []string{"hand-over"}}
	return e
}

// consenting is an engine whose members agree by a majority and call no API server.
func consenting() *dbv1.DatabaseEngine {
	e := replicated()
	e.Spec.Topology, e.Spec.Roles, e.Spec.State, e.Spec.Actions.HandOver = dbv1.TopologyConsensus, nil, nil, nil
	e.Spec.Actions.MemberRemove = &dbv1.EngineAction{Command: []string{"remove"}}
	return e
}

func TestTheTopologyDecidesWhetherMembersAreRelatedHaveRolesAndNeedRights(t *testing.T) {
	configuring := replicated()
	configuring.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	for name, c := range map[string]struct {
		engine                                           *dbv1.DatabaseEngine
		related, roles, consents, identifies, configures bool
	}{
		"no engine":                           {nil, false, false, false, false, false},
		"independent members":                 {ledger(), false, false, false, false, false},
		"a primary and replicas":              {replicated(), true, true, false, true, false},
		"a primary and replicas, configuring": {configuring, true, true, false, true, true},
		"consensus":                           {consenting(), true, false, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := []bool{Related(c.engine), HasRoles(c.engine), Consents(c.engine), Identifies(c.engine), Configures(c.engine)}
			if want := []bool{c.related, c.roles, c.consents, c.identifies, c.configures}; !slices.Equal(got, want) {
				t.Errorf("related, roles, consents, identifies, configures are %v, want %v", got, want)
			}
		})
	}
	keeping := consenting()
	keeping.Spec.State = &dbv1.EngineState{ConfigMaps: []string{"members"}}
	if !Identifies(keeping) {
		t.Error("members with state do not call the API server")
	}
}

func TestTheNamesOfStateConfigMapsBeginWithTheCluster(t *testing.T) {
	if got := StateConfigMaps("orders", replicated()); !slices.Equal(got, []string{"orders-leader", "orders-failover"}) {
		t.Errorf("%v", got)
	}
	if got := slices.Concat(StateConfigMaps("orders", nil), StateConfigMaps("orders", consenting())); len(got) > 0 {
		t.Errorf("without state: %v", got)
	}
}

func TestMembersWithRolesGetAServiceAccountAndTheirLabelAsAnAnnotation(t *testing.T) {
	cluster := orders()
	cluster.Spec.ServiceAccount.Annotations = map[string]string{"example.test/role": "theirs"}
	cluster.Spec.Pod.Annotations = map[string]string{"team": "shop"}
	got := Resolve(cluster, replicated()).Spec
	if want := map[string]string{"example.test/role": "theirs", dbv1.AnnotationRights: "orders"}; !maps.Equal(got.ServiceAccount.Annotations, want) {
		t.Errorf("the ServiceAccount has the annotations %v", got.ServiceAccount.Annotations)
	}
	if got.Pod.Annotations[dbv1.AnnotationRoleLabel] != "database.dbcluster.io/role" || got.Pod.Annotations["team"] != "shop" {
		t.Errorf("the pods have the annotations %v", got.Pod.Annotations)
	}
	if len(cluster.Spec.ServiceAccount.Annotations) != 1 || len(cluster.Spec.Pod.Annotations) != 1 {
		t.Errorf("the argument was changed: %+v", cluster.Spec)
	}
	for name, e := range map[string]*dbv1.DatabaseEngine{"no engine": nil, "independent members": ledger(), "consensus": consenting()} {
		spec := Resolve(orders(), e).Spec
		if _, found := spec.Pod.Annotations[dbv1.AnnotationRoleLabel]; found || len(spec.ServiceAccount.Annotations) > 0 {
			t.Errorf("%s: %v %v", name, spec.Pod.Annotations, spec.ServiceAccount.Annotations)
		}
	}
}

func TestParametersThatAnActionPutsInForceAreNoVariablesOfMembers(t *testing.T) {
	e := replicated()
	if got := variables(Resolve(orders(), e)); !strings.Contains(got, "DBC_PARAM_CACHE=1MB") {
		t.Errorf("without the action configure: %s", got)
	}
	e.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	resolved := Resolve(orders(), e)
	if got := variables(resolved); strings.Contains(got, "DBC_PARAM_") {
		t.Errorf("with the action configure: %s", got)
	}
	if resolved.Spec.Parameters["cache"] != "1MB" {
		t.Errorf("the action has the parameters %v", resolved.Spec.Parameters)
	}
}

func TestOtherParametersAreAcceptedIfTheEngineAllowsThem(t *testing.T) {
	cluster, e := orders(), replicated()
	cluster.Spec.Parameters = map[string]string{"work_mem": "64MB"}
	if reason, message := Refusal(cluster, e, false); reason != dbv1.ReasonInvalidParameter || !strings.Contains(message, `spec.parameters sets "work_mem"`) {
		t.Errorf("%s: %s", reason, message)
	}
	e.Spec.Actions.Configure, e.Spec.OtherParameters = &dbv1.EngineAction{Command: []string{"configure"}}, true
	if reason, message := Refusal(cluster, e, false); reason != "" {
		t.Errorf("%s: %s", reason, message)
	}
	cluster.Spec.Parameters["cache"] = "much"
	if reason, message := Refusal(cluster, e, false); reason != dbv1.ReasonInvalidParameter || !strings.Contains(message, "it must match [0-9]+(kB|MB)") {
		t.Errorf("a declared parameter: %s: %s", reason, message)
	}
}

func TestAnEvenNumberOfMembersIsRefusedIfTheyDecideByAMajority(t *testing.T) {
	cluster, e := orders(), consenting()
	e.Spec.Replicas.Odd = true
	for replicas, want := range map[int32]string{1: "", 2: "1 or 3", 3: "", 4: "3 or 5", 8: "7 or 9", 9: ""} {
		cluster.Spec.Replicas = replicas
		reason, message := Refusal(cluster, e, false)
		if want == "" && reason != "" || want != "" && (reason != dbv1.ReasonInvalidReplicas || !strings.HasSuffix(message, "set spec.replicas to "+want)) {
			t.Errorf("%d members: %s: %s", replicas, reason, message)
		}
	}
	e.Spec.Replicas.Max = 4
	cluster.Spec.Replicas = 5
	if _, message := Refusal(cluster, e, false); !strings.Contains(message, "allows 1 to 4 members") {
		t.Error(message)
	}
}

func TestMembersOfOneDatabaseNeedTheirOwnServiceAccountAndVolumes(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		engine *dbv1.DatabaseEngine
		change func(*dbv1.DatabaseClusterSpec)
		want   string
	}{
		"a ServiceAccount with roles":               {replicated(), func(s *dbv1.DatabaseClusterSpec) { s.ServiceAccount.Name = "theirs" }, "spec.serviceAccount.name is theirs, but the members of DatabaseEngine ledger-v1 need a ServiceAccount with rights of their own: remove the field"},
		"a ServiceAccount by consensus":             {consenting(), func(s *dbv1.DatabaseClusterSpec) { s.ServiceAccount.Name = "theirs" }, ""},
		"a ServiceAccount of independent members":   {ledger(), func(s *dbv1.DatabaseClusterSpec) { s.ServiceAccount.Name = "theirs" }, ""},
		"no volumes with roles":                     {replicated(), func(s *dbv1.DatabaseClusterSpec) { s.Storage.Ephemeral = &yes }, "spec.storage.ephemeral is true, but the members of DatabaseEngine ledger-v1 need volumes"},
		"no volumes by consensus":                   {consenting(), func(s *dbv1.DatabaseClusterSpec) { s.Storage.Ephemeral = &yes }, "spec.storage.ephemeral is true"},
		"no volumes of independent members":         {ledger(), func(s *dbv1.DatabaseClusterSpec) { s.Storage.Ephemeral = &yes }, ""},
		"annotations of a ServiceAccount and roles": {replicated(), func(s *dbv1.DatabaseClusterSpec) { s.ServiceAccount.Annotations = map[string]string{"a": "b"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := orders()
			c.change(&cluster.Spec)
			reason, message := Refusal(cluster, c.engine, false)
			if c.want == "" && reason != "" || c.want != "" && (reason != dbv1.ReasonFieldUnsupported || !strings.HasPrefix(message, c.want)) {
				t.Errorf("%s: %s", reason, message)
			}
		})
	}
}
