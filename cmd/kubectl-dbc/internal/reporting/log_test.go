/*
SPDX-License-Identifier: Apache-2.0
*/

package reporting_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
)

const group = "database.dbcluster.io"

func TestTheLogOfTheOperatorHasNoLineOfAnotherCluster(t *testing.T) {
	of := func(kind, name string) reporting.Object {
		return reporting.Object{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}
	}
	log := reporting.Log{Namespace: "shop", Operator: "operator-system", Objects: reporting.Objects{
		of("DatabaseCluster", "orders"): "1", of("DatabaseBackup", "nightly"): "2", of("DatabaseEngine", "ledger-v1"): "3",
	}}
	line := func(kind, namespace, name string) string {
		return `{"level":"info","ts":"2026-11-21T14:00:00Z","msg":"executing","controller":"x","controllerGroup":"` + group + `","controllerKind":"` + kind +
			`","` + kind + `":{"name":"` + name + `","namespace":"` + namespace + `"},"namespace":"` + namespace + `","name":"` + name + `","operation":"any"}`
	}
	for text, kept := range map[string]bool{
		line("DatabaseCluster", "shop", "orders"):                                                                      true,
		line("DatabaseBackup", "shop", "nightly"):                                                                      true,
		line("DatabaseEngine", "", "ledger-v1"):                                                                        true,
		line("DatabaseCluster", "bank", "orders"):                                                                      false,
		line("DatabaseCluster", "shop", "ledger"):                                                                      false,
		line("DatabaseBackup", "shop", "orders"):                                                                       false,
		line("DatabaseEngine", "", "secret-product"):                                                                   false,
		"2026-11-21T14:00:00.5Z\tINFO\texecuting\t" + line("DatabaseCluster", "shop", "orders"):                        true,
		"2026-11-21T14:00:00.5Z\tINFO\texecuting\t" + line("DatabaseCluster", "bank", "orders"):                        false,
		`{"level":"info","ts":"x","msg":"starting","version":"v1"}`:                                                    true,
		`{"level":"info","ts":"x","msg":"Starting workers","controller":"x","controllerGroup":"g","worker count":4}`:   true,
		`{"level":"error","ts":"x","msg":"lost","error":"Get \"https://10.0.0.1/api/v1/namespaces/bank/pods\": EOF"}`:  false,
		`{"level":"error","ts":"x","msg":"lost","error":"Get \"https://10.0.0.1/api/v1/namespaces/shop/pods\": EOF"}`:  true,
		`{"level":"error","ts":"x","msg":"lost","error":"pods is forbidden in the namespace \"bank\""}`:                false,
		`{"level":"error","ts":"x","msg":"cannot list the objects","changed":"ledger"}`:                                false,
		`{"level":"info","ts":"x","msg":"acquired lease operator-system/lock"}`:                                        true,
		`I1121 14:00:00.000000       1 leaderelection.go:257] "Attempting to acquire" lease="operator-system/lock"`:    true,
		`E1121 14:00:00.000000       1 event.go:359] "Server rejected event" event="&Event{ObjectMeta:{ledger.1 bank"`: false,
		`E1121 14:00:00.000000       1 reflector.go:200] "Failed to watch" err="secrets in the namespace \"bank\""`:    false,
		"panic: runtime error: index out of range [1] with length 1":                                                   true,
		"goroutine 1 [running]:": true,
		"main.main()":            true,
		"github.com/dbcluster/databasecluster-operator/internal/kit.(*Base).Pass(0xc000123, {0x1, 0x2})": true,
		"\t/src/internal/kit/pass.go:145 +0x1d4":                                                         true,
		"ledger of bank has failed":                                                                      false,
	} {
		got, others := log.Of("2026-11-21T14:00:00.000000001Z " + text + "\n")
		if strings.Contains(got, text) != kept || (others == 0) != kept {
			t.Errorf("%s: kept is %t, and %d others", text, got != "", others)
		}
	}
}
