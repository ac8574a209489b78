/*
SPDX-License-Identifier: Apache-2.0
*/

package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const engines = "../../../config/engines"

func TestEachClientBesideAnEngineWritesListsAndNamesAParameterOfIt(t *testing.T) {
	files, err := filepath.Glob(engines + "/conformance/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		client, err := ReadClient(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if client.Connect == "" || client.Write == "" || client.List == "" || client.Parameter == nil {
			t.Errorf("%s lacks connect, write, list or parameter", file)
			continue
		}
		engine, err := ReadEngine(filepath.Join(engines, filepath.Base(file)))
		if err != nil {
			engine, err = ReadEngine("../../../config/samples/gallery/own-engine.yaml")
		}
		if err != nil || engine.Name+".yaml" != filepath.Base(file) {
			t.Errorf("%s is of no engine: %v", file, err)
			continue
		}
		if !has(engine, *client.Parameter) {
			t.Errorf("%s: the engine has no parameter %s, or %s is its default", file, client.Parameter.Name, client.Parameter.Value)
		}
	}
}

func has(engine *dbv1.DatabaseEngine, parameter Parameter) bool {
	for _, p := range engine.Spec.Parameters {
		if p.Name == parameter.Name {
			return p.Default != parameter.Value && parameter.Refused != parameter.Value
		}
	}
	return false
}

func TestAnUnknownFieldOfAClientIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mydb-v1.yaml")
	if err := os.WriteFile(file, []byte("replicas: 1\nwirte: psql\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadClient(file); err == nil || !strings.Contains(err.Error(), "wirte") {
		t.Errorf("the error is %v", err)
	}
}

func TestAClientIsFoundByTheNameOfItsEngine(t *testing.T) {
	client, err := FindClient("elsewhere/own-engine.yaml", "mariadb-v1", engines+"/conformance")
	if err != nil || !client.Stores() {
		t.Errorf("%v: %+v", err, client)
	}
	client, err = FindClient("elsewhere/mydb-v1.yaml", "mydb-v1", engines+"/conformance")
	if err != nil || client.Replicas != 1 || client.Stores() {
		t.Errorf("an engine without a client: %v: %+v", err, client)
	}
}

func TestTheTableHasARowForEachCheckAndCountsLines(t *testing.T) {
	engine := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyIndependent, Scripts: map[string]dbv1.EngineScript{"start": "#!/bin/sh\n\n# why\nexec mydb\n"}}}
	engine.Name = "mydb-v1"
	table := Table(engine, "localhost/mydb:1", []Row{
		{"create", Passed, 12.4, "Ready"}, {"kill", Failed, 3, "a | b\nc"}, {"join", NotOffered, 0, "each member has data of its own"},
	})
	for _, want := range []string{
		"Independent in the image `localhost/mydb:1`: 1 passed, 1 failed, 1 not offered. It has 1 scripts with 4 lines, 1 of them code.\n",
		"| create | passed | 12 | Ready |\n", `| kill | FAILED | 3 | a \| b c |`, "| join | not offered | - | each member has data of its own |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%s\nlacks %s", table, want)
		}
	}
}
