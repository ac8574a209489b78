/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// each runs a test for every engine.
func each(t *testing.T, test func(*testing.T, *dbv1.DatabaseEngine)) {
	t.Helper()
	objects, err := Objects()
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	for _, object := range objects {
		t.Run(object.GetName(), func(t *testing.T) {
			if _, err := files.Open(object.GetName() + ".yaml"); err != nil {
				t.Errorf("its file has another name: %v", err)
			}
			declared := &dbv1.DatabaseEngine{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, declared, true); err != nil {
				t.Fatal(err)
			}
			test(t, declared)
		})
	}
}

func TestEveryEngineOffersAllActionsByScriptsThatItHas(t *testing.T) {
	each(t, func(t *testing.T, e *dbv1.DatabaseEngine) {
		if text := engine.Declared(e, engine.Actions...); text != "" {
			t.Error(text)
		}
		stored := e.Spec.Actions.Backup != nil
		if stored && (e.Spec.Actions.Check == nil || e.Spec.Actions.Check.Command[0] != "/dbc/scripts/check" || e.Spec.Scripts["check"] == "") {
			t.Error("it has no action check")
		}
		if check := e.Spec.Actions.Check; stored && check.Identity != "" && !strings.Contains(string(e.Spec.Scripts["check"]), check.Identity) {
			t.Errorf("the action check does not print %s", check.Identity)
		} else if stored && check.Identity == "" && e.Name != "redis-single-v1" { // a server of Redis has an identity, its data does not
			t.Error("the action check names no identity of the database")
		}
		if !stored && e.Name != "memcached-v1" {
			t.Error("it has no backups")
		}
		for _, action := range []*dbv1.EngineAction{e.Spec.Actions.Probe, e.Spec.Actions.Backup, e.Spec.Actions.Restore} {
			if action == nil && !stored {
				continue
			}
			if action == nil {
				t.Fatal("an action is missing")
			}
			script, ours := strings.CutPrefix(action.Command[0], "/dbc/scripts/")
			if _, found := e.Spec.Scripts[script]; !ours || !found {
				t.Errorf("%s is not a script of the engine", action.Command[0])
			}
		}
	})
}

func TestTheSampleIsDeclaredWell(t *testing.T) {
	text, err := os.ReadFile("../samples/database_v1alpha1_databaseengine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	declared := &dbv1.DatabaseEngine{}
	if err := yaml.UnmarshalStrict(text, declared); err != nil {
		t.Fatal(err)
	}
	if text := engine.Declared(declared, engine.Actions...); text != "" {
		t.Error(text)
	}
}

func TestAClusterThatSetsNothingHasNoProblemWithAnEngine(t *testing.T) {
	each(t, func(t *testing.T, e *dbv1.DatabaseEngine) {
		cluster := &dbv1.DatabaseCluster{Spec: dbv1.DatabaseClusterSpec{Replicas: 1}}
		cluster.Spec.Engine, cluster.Spec.Credentials.SecretName, cluster.Spec.Backup = e.Name, "orders", nil
		if e.Spec.Actions.Backup != nil {
			cluster.Spec.Backup = &dbv1.ClusterBackup{Verification: &dbv1.BackupVerificationSchedule{}}
		}
		if _, text := engine.Refusal(engine.Resolve(cluster, e), e, false); text != "" {
			t.Error(text)
		}
		for _, p := range e.Spec.Parameters {
			cluster.Spec.Parameters = map[string]string{p.Name: "$(HOME) -x"}
			if _, text := engine.Refusal(cluster, e, false); text == "" {
				t.Errorf("parameter %s takes anything", p.Name)
			}
		}
	})
}

// Everything that is special about a database is in its engine.
func TestTheOperatorNamesNoEngine(t *testing.T) {
	names := []string{"postgres", "patroni"}
	objects, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		name, _, _ := strings.Cut(object.GetName(), "-")
		names = append(names, name)
	}
	err = filepath.WalkDir("../../internal", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range names {
			if bytes.Contains(bytes.ToLower(text), []byte(name)) {
				t.Errorf("%s names %s", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
