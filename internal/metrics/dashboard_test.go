/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// panel has the fields of a panel of Grafana that the tests read. A collapsed row has its panels.
type panel struct {
	ID                  int
	Type, Title, Repeat string
	Targets             []struct{ Expr, LegendFormat string }
	Panels              []panel
}

// variable is a variable of the dashboard.
type variable struct {
	Name, Definition, Regex string
	Multi                   bool
}

// dashboard reads the dashboard, and returns its variables and the panels outside and inside of rows.
func dashboard(t *testing.T) ([]variable, []panel) {
	var is struct {
		Templating struct{ List []variable }
		Panels     []panel
	}
	if err := json.Unmarshal(read(t, "config", "grafana", "databasecluster.json"), &is); err != nil {
		t.Fatal(err)
	}
	var all []panel
	for _, p := range is.Panels {
		all = append(append(all, p), p.Panels...)
	}
	if len(all) < 20 {
		t.Fatalf("the dashboard has %d panels", len(all))
	}
	return is.Templating.List, all
}

// dashboardQueries are the queries of the panels and the variables.
func dashboardQueries(t *testing.T) []string {
	variables, panels := dashboard(t)
	var queries []string
	for _, v := range variables {
		if v.Definition != "" {
			queries = append(queries, v.Definition)
		}
	}
	for _, p := range panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d, %s, has no query", p.ID, p.Title)
		}
	}
	return queries
}

var (
	selectors = regexp.MustCompile(`([a-zA-Z_:][\w:]*)\{([^}]*)\}`)
	matchers  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	groupings = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	// creations are the functions that add a label.
	creations       = regexp.MustCompile(`, "(\w+)", "[^"]*", "\w*", "[^"]*"\)`)
	references      = regexp.MustCompile(`\{\{(\w+)\}\}`)
	askedConditions = regexp.MustCompile(`type="(\w+)"`)
	used            = regexp.MustCompile(`\$\{?(\w+)`)
)

// ofTargets are the labels that Prometheus adds to every series of a ServiceMonitor.
var ofTargets = []string{"job", "instance", "namespace", "pod", "service", "container", "endpoint"}

// unknownLabels returns the labels in a query that neither its metrics nor its functions have, and those of its legend.
func unknownLabels(query, legend string, known map[string][]string) []string {
	var unknown []string
	for _, selector := range selectors.FindAllStringSubmatch(query, -1) {
		for _, matcher := range matchers.FindAllStringSubmatch(selector[2], -1) {
			if !slices.Contains(slices.Concat(known[selector[1]], ofTargets), matcher[1]) {
				unknown = append(unknown, selector[1]+"."+matcher[1])
			}
		}
	}
	labels := slices.Clone(ofTargets)
	for _, name := range namesIn(query) {
		labels = append(labels, known[name]...)
	}
	for _, created := range creations.FindAllStringSubmatch(query, -1) {
		labels = append(labels, created[1])
	}
	var named []string
	for _, grouping := range groupings.FindAllStringSubmatch(query, -1) {
		named = append(named, strings.FieldsFunc(grouping[1], func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	for _, reference := range references.FindAllStringSubmatch(legend, -1) {
		named = append(named, reference[1])
	}
	return append(unknown, slices.DeleteFunc(named, func(label string) bool { return slices.Contains(labels, label) })...)
}

func TestEveryLabelThatTheDashboardNamesExists(t *testing.T) {
	known := knownMetrics(t)
	_, panels := dashboard(t)
	for _, p := range panels {
		for _, target := range p.Targets {
			if unknown := unknownLabels(target.Expr, target.LegendFormat, known); len(unknown) > 0 {
				t.Errorf("panel %d, %s, names the labels %v, which do not exist: %s", p.ID, p.Title, unknown, target.Expr)
			}
			for _, kind := range askedConditions.FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(dbv1.ClusterConditions, kind[1]) {
					t.Errorf("panel %d, %s, asks for the condition %s", p.ID, p.Title, kind[1])
				}
			}
		}
	}
}

func TestALabelThatDoesNotExistIsFound(t *testing.T) {
	known := map[string][]string{"a": {"b"}, "c_bucket": {"b", "le"}}
	cases := map[string][]string{
		`max by (namespace, b) (a{b="x"})`:                              nil,
		`sum by (le) (rate(c_bucket[5m]))`:                              nil,
		`label_replace(a, "d", "$1", "b", "(.+)") and on (d) c_bucket`:  nil,
		`label_join(a, "d", "/", "namespace", "b") and on (d) c_bucket`: nil,
		`a{z="x",b!="y"}`:           {"a.z"},
		`max by (b, z) (a)`:         {"z"},
		`a and on (d) c_bucket`:     {"d"},
		`sum by (le) (rate(a[5m]))`: {"le"},
	}
	for query, want := range cases {
		if got := unknownLabels(query, "{{b}}{{namespace}}", known); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	if got := unknownLabels("a", "{{b}} {{z}}", known); !slices.Equal(got, []string{"z"}) {
		t.Errorf("a legend: got %v, want z", got)
	}
}

func TestTheDashboardHasARowForEachCluster(t *testing.T) {
	variables, panels := dashboard(t)
	at := slices.IndexFunc(variables, func(v variable) bool { return v.Name == "cluster" })
	if at < 0 || !variables[at].Multi || !strings.Contains(variables[at].Definition, "databasecluster_info") {
		t.Fatalf("no variable has the clusters: %+v", variables)
	}
	if found := regexp.MustCompile(strings.Trim(variables[at].Regex, "/")).FindStringSubmatch(
		`{cluster="shop/orders", name="orders", namespace="shop"} 1 1700000000000`); found == nil || found[1] != "shop/orders" {
		t.Errorf("the regex of the variable finds %v in a result of its query", found)
	}
	rows := slices.DeleteFunc(panels, func(p panel) bool { return p.Repeat == "" })
	if len(rows) != 1 || rows[0].Type != "row" || rows[0].Repeat != "cluster" || !strings.Contains(rows[0].Title, "$cluster") {
		t.Fatalf("got the repeated panels %+v, want one row for each cluster", rows)
	}
	for _, p := range rows[0].Panels {
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, `label_replace(vector(1), "cluster", "$cluster", "", "")`) {
				t.Errorf("panel %d, %s, shows other clusters, too: %s", p.ID, p.Title, target.Expr)
			}
		}
	}
}

func TestEveryVariableOfTheDashboardExists(t *testing.T) {
	variables, panels := dashboard(t)
	known := map[string]bool{"__rate_interval": true, "1": true} // the first group of a regular expression
	for _, v := range variables {
		known[v.Name] = true
	}
	ids := map[int]bool{}
	for _, p := range panels {
		if ids[p.ID] {
			t.Errorf("two panels have the ID %d", p.ID)
		}
		ids[p.ID] = true
		texts := []string{p.Title}
		for _, target := range p.Targets {
			texts = append(texts, target.Expr)
		}
		for _, use := range used.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
			if !known[use[1]] {
				t.Errorf("panel %d, %s, uses the variable %s, which does not exist", p.ID, p.Title, use[1])
			}
		}
	}
}
