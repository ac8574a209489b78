/*
SPDX-License-Identifier: Apache-2.0
*/

// Package golden compares rendered objects with files.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

var update = flag.Bool("update", false, "write the golden files")

// Input reads a cluster from the testdata of package resources.
func Input(t *testing.T, name string) *dbv1.DatabaseCluster {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "resources", "testdata", name+".input.yaml")) //nolint:gosec // an input of these packages
	if err != nil {
		t.Fatal(err)
	}
	cluster := &dbv1.DatabaseCluster{}
	if err := yaml.UnmarshalStrict(text, cluster); err != nil {
		t.Fatal(err)
	}
	return cluster
}

// Compare compares an object with a file in the testdata of the package under test. The flag -update writes the file.
func Compare(t *testing.T, name string, child objects.Child) {
	t.Helper()
	got, err := yaml.Marshal(child.Object.Object)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, child.String(), name+".golden.yaml", got)
}

// Text compares a text with a file in the testdata of the package under test. The flag -update writes the file.
func Text(t *testing.T, name, got string) {
	t.Helper()
	compare(t, name, name+".golden.txt", []byte(got))
}

func compare(t *testing.T, what, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // a golden file of these packages
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from %s (the flag -update of this test updates it); got:\n%s", what, file, got)
	}
}

// Live is a child as a client would read it.
func Live[T any](t testing.TB, child objects.Child) *T {
	t.Helper()
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object.Object, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Replicated returns the effective cluster of an engine whose members have one database.
func Replicated(cluster *dbv1.DatabaseCluster) (*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
	action := func(name string) *dbv1.EngineAction {
		return &dbv1.EngineAction{Command: []string{"/dbc/scripts/" + name}}
	}
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec = dbv1.DatabaseEngineSpec{
		Topology:        dbv1.TopologyPrimaryReplica,
		Roles:           &dbv1.EngineRoles{Label: "database.dbcluster.io/role", Primary: "primary", Replica: "replica", LockSeconds: 30},
		State:           &dbv1.EngineState{ConfigMaps: []string{"leader", "failover"}},
		Parameters:      []dbv1.EngineParameter{{Name: "max-clients", Default: "100"}},
		OtherParameters: true,
		Actions: dbv1.EngineActions{
			Initialize: action("initialize"), HandOver: action("hand-over"), Configure: action("configure"), MemberRemove: action("remove"),
		},
	}
	cluster.Spec.Engine, cluster.Spec.Parameters = declared.Name, map[string]string{"prefix": "$(HOME) \"x\""}
	return engine.Resolve(cluster, declared), declared
}
