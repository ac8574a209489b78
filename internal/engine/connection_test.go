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

// connected returns the ledger with a database, an owner and one entry of its connection.
func connected(template string) *dbv1.DatabaseEngine {
	e := ledger()
	e.Spec.Bootstrap = dbv1.EngineBootstrap{Database: "books", Owner: "clerk"}
	e.Spec.Connection = &dbv1.EngineConnection{Type: "ledger", Entries: map[string]dbv1.EngineTemplate{"entry": dbv1.EngineTemplate(template)}}
	return e
}

func TestTheConnectionHasTheWellKnownEntries(t *testing.T) {
	e, c := connected("{{ .owner }} of {{ .database }} in {{ .cluster }}"), orders()
	c.Namespace = "shop"
	data, err := Connection(Resolve(c, e), e, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		lines = append(lines, key+"="+string(data[key]))
	}
	const want = "entry=clerk of books in orders\nhost=orders.shop.svc\nport=7000\nprovider=ledger-v1\ntype=ledger"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheClusterOverridesDatabaseAndOwner(t *testing.T) {
	e, c := connected("{{ .owner }} of {{ .database }}"), orders()
	c.Spec.Bootstrap = &dbv1.ClusterBootstrap{Owner: "shop"}
	resolved := Resolve(c, e)
	data, err := Connection(resolved, e, nil, "")
	if got := string(data["entry"]); err != nil || got != "shop of books" {
		t.Errorf("%q, %v", got, err)
	}
	if got := variables(resolved); !strings.Contains(got, "DBC_DATABASE=books DBC_OWNER=shop") {
		t.Errorf("the environment is %s", got)
	}
}

func TestATemplateEscapesForItsFormat(t *testing.T) {
	for template, want := range map[string]string{
		`{{ secret "password" }}`:                `p@s:/s%\ä`,
		`{{ secret "password" | percent }}`:      `p%40s%3A%2Fs%25%5C%C3%A4`,
		`{{ secret "password" | escape ":" }}`:   `p@s\:/s%\\ä`,
		`{{ if .owner }}{{ .port }}{{ end }}`:    `7000`,
		`{{ with .namespace }}in {{ . }}{{end}}`: ``,
	} {
		e := connected(template)
		data, err := Connection(Resolve(orders(), e), e, map[string][]byte{"password": []byte("p@s:/s%\\ä\n\n")}, "")
		if got := string(data["entry"]); err != nil || got != want {
			t.Errorf("%s gives %q, %v; want %q", template, got, err, want)
		}
	}
}

func TestATemplateThatCannotBeExpandedIsAFlaw(t *testing.T) {
	const loop = "it must not have define, block, template or range"
	for template, want := range map[string]string{
		`{{ secret "word" }}`:                           `spec.secretKeys has no "word"`,
		`{{ .user }}`:                                   `map has no entry for key "user"`,
		`{{ .host`:                                      "unclosed action",
		`{{ printf "%1000000000d" 1 }}`:                 `function "printf" not defined`,
		`{{ range 1000000000 }}x{{ end }}`:              loop,
		`{{ if .host }}{{ range .host }}{{end}}{{end}}`: loop,
		`{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`: loop,
	} {
		e := connected(template)
		e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password"}}
		if got := Declared(e); !strings.Contains(got, "spec.connection.entries[entry] is not a valid template (") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", template, got, want)
		}
	}
}

func TestTheConnectionOfAClusterWithTLSHasItsCA(t *testing.T) {
	e := connected(`ledger{{ if .tls }}s{{ end }}://{{ .host }}`)
	data, err := Connection(Resolve(orders(), e), e, nil, "the CA")
	if got := string(data["entry"]); err != nil || !strings.HasPrefix(got, "ledgers://") || string(data["ca.crt"]) != "the CA" {
		t.Errorf("%s, %v", data, err)
	}
	data, err = Connection(Resolve(orders(), e), e, nil, "")
	if _, has := data["ca.crt"]; err != nil || has || !strings.HasPrefix(string(data["entry"]), "ledger://") {
		t.Errorf("%s, %v", data, err)
	}
}
