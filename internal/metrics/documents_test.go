/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"
)

// alert has the fields of an alert that the tests read.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func (a alert) page() string {
	return strings.TrimPrefix(a.Annotations["runbook_url"], "https://github.com/dbcluster/databasecluster-operator/blob/main/")
}

func read(t *testing.T, path ...string) []byte {
	content, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func alerts(t *testing.T) []alert {
	var rule struct {
		Spec struct {
			Groups []struct{ Rules []alert }
		}
	}
	if err := yaml.Unmarshal(read(t, "config", "prometheus", "alerts.yaml"), &rule); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range rule.Spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

// pagesOfDatabases are those of the alerts of a cluster's own PrometheusRule, whose golden file has all of them.
func pagesOfDatabases(t *testing.T) map[string]bool {
	t.Helper()
	pages := map[string]bool{}
	rule := string(read(t, "internal", "monitoring", "testdata", "full.prometheusrule.golden.yaml"))
	for _, link := range regexp.MustCompile(`docs/runbooks/(\w+\.md)`).FindAllStringSubmatch(rule, -1) {
		pages[link[1]] = true
	}
	return pages
}

func TestTheDocumentDescribesEveryMetric(t *testing.T) {
	want := append([]string{fmt.Sprintf("| %#q | | %s |", leadingName, leadingHelp)}, rowsOf(gauges)...)
	want = append(want, rowsOf(companionGauges)...)
	document := string(read(t, "docs", "metrics.md"))
	var got []string
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "| `databasecluster_") || strings.HasPrefix(line, "| `databasecompanion_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/metrics.md has\n%s\nand the collector\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, kind := range slices.Concat(dbv1.ClusterConditions, dbv1.CompanionConditions) {
		if !strings.Contains(document, "`"+kind+"`") {
			t.Errorf("docs/metrics.md does not describe the condition %s", kind)
		}
	}
	for _, most := range []string{fmt.Sprintf("At most %d for a cluster", perCluster), fmt.Sprintf("at most %d for a companion", perCompanion)} {
		if !strings.Contains(document, most) {
			t.Errorf("docs/metrics.md does not contain %q", most)
		}
	}
}

func rowsOf[T any](gauges []gauge[T]) []string {
	var rows []string
	for _, g := range gauges {
		labels := "`" + strings.Join(g.labels, "`, `") + "`"
		rows = append(rows, fmt.Sprintf("| %#q | %s | %s |", g.name, labels, g.help))
	}
	return rows
}

func TestTheHelpOfASizeAgreesWithTheDescriptionOfItsField(t *testing.T) {
	crd := string(read(t, "config", "crd", "bases", "database.dbcluster.io_databaseclusters.yaml"))
	for name, description := range map[string]string{
		"databasecluster_status_storage_requested_bytes": "requested is the largest size",
		"databasecluster_status_storage_capacity_bytes":  "capacity is the size of the smallest volume",
	} {
		if !strings.Contains(crd, description) {
			t.Errorf("no field of a DatabaseCluster has the description %q", description)
		}
		superlative := regexp.MustCompile(`(?i)largest|smallest`)
		of := slices.IndexFunc(gauges, func(g gauge[subject]) bool { return g.name == name })
		if help := gauges[of].help; !strings.EqualFold(superlative.FindString(help), superlative.FindString(description)) {
			t.Errorf("%s has the help %q, and its field the description %q", name, help, description)
		}
	}
}

func TestEveryAlertHasADescriptionAndARunbook(t *testing.T) {
	pages := pagesOfDatabases(t)
	for _, a := range alerts(t) {
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s has the severity %q", a.Alert, a.Labels["severity"])
		}
		if a.For == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks for, summary or description", a.Alert)
		}
		if a.page() != "docs/runbooks/"+a.Alert+".md" {
			t.Errorf("%s has the page %s", a.Alert, a.page())
			continue
		}
		pages[a.Alert+".md"] = true
		page := string(read(t, a.page()))
		for _, part := range []string{"# " + a.Alert + "\n", "**It means:**", "**Users notice:**", "## Find the cause", "## What to do", "**It resolves**"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page of %s lacks %q", a.Alert, part)
			}
		}
		if !strings.Contains(string(read(t, "docs", "metrics.md")), "(runbooks/"+a.Alert+".md)") {
			t.Errorf("docs/metrics.md does not lead to the page of %s", a.Alert)
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "docs", "runbooks"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !pages[file.Name()] {
			t.Errorf("docs/runbooks/%s is the page of no alert", file.Name())
		}
	}
}

func TestEveryConditionThatAlertsNameIsReported(t *testing.T) {
	named := regexp.MustCompile(`(database\w+)_status_condition\{[^}]*type="(\w+)",status="(True|False)"`)
	reported := map[string][]string{"databasecluster": dbv1.ClusterConditions, "databasecompanion": dbv1.CompanionConditions}
	uses := 0
	for _, a := range alerts(t) {
		for _, use := range named.FindAllStringSubmatch(a.Expr, -1) {
			uses++
			if !slices.Contains(reported[use[1]], use[2]) {
				t.Errorf("%s asks for the condition %s of a %s", a.Alert, use[2], use[1])
			}
		}
		if got := strings.Count(a.Expr, "status_condition{"); got != len(named.FindAllString(a.Expr, -1)) {
			t.Errorf("%s does not name the condition and the status that it queries: %s", a.Alert, a.Expr)
		}
	}
	if uses == 0 {
		t.Error("no alert asks for a condition")
	}
}

func TestEveryMetricThatAlertsAndTheDashboardNameExists(t *testing.T) {
	known := knownMetrics(t)
	queries := dashboardQueries(t)
	for _, a := range alerts(t) {
		queries = append(queries, a.Expr)
	}
	for _, query := range queries {
		names := namesIn(query)
		if len(names) == 0 {
			t.Errorf("no metric found in %s", query)
		}
		for _, name := range names {
			if _, is := known[name]; !is {
				t.Errorf("no component has the metric %s in %s", name, query)
			}
		}
	}
}

// knownMetrics are the operator's metrics, those of controller-runtime and its libraries, and a few of other
// components, each with its labels.
func knownMetrics(t *testing.T) map[string][]string {
	t.Helper()
	volume := []string{"namespace", "persistentvolumeclaim"}
	known := map[string][]string{
		"ALERTS":                               {"alertname", "alertstate"}, // Prometheus' own
		"kubelet_volume_stats_available_bytes": volume,
		"kubelet_volume_stats_capacity_bytes":  volume,
		"kubelet_volume_stats_used_bytes":      volume,
		leadingName:                            nil,
	}
	for _, g := range gauges {
		known[g.name] = g.labels
	}
	for _, g := range companionGauges {
		known[g.name] = g.labels
	}
	// The rule of a cluster records these.
	rule := string(read(t, "internal", "monitoring", "testdata", "full.prometheusrule.golden.yaml"))
	for _, recorded := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(rule, -1) {
		known[recorded[1]] = []string{"namespace", "dbcluster", "pod", "engine"}
	}
	registered := make(chan *prometheus.Desc)
	go func() {
		ctrlmetrics.Registry.(prometheus.Collector).Describe(registered)
		close(registered)
	}()
	described := regexp.MustCompile(`fqName: "([^"]+)".* variableLabels: \{([^}]*)\}`)
	for description := range registered {
		parts := described.FindStringSubmatch(description.String())
		name, labels := parts[1], strings.Split(parts[2], ",")
		known[name], known[name+"_sum"], known[name+"_count"] = labels, labels, labels
		known[name+"_bucket"] = append(labels, "le")
	}
	return known
}

var (
	notNames = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)|, \w+\)$`)
	words    = regexp.MustCompile(`\b[a-zA-Z_:][\w:]*\b\s*\(?`)
	keywords = []string{"and", "or", "unless", "offset", "bool"}
)

// namesIn are the metrics in a query: words that are not labels, functions or keywords.
func namesIn(query string) []string {
	var names []string
	for _, word := range words.FindAllString(notNames.ReplaceAllString(query, " "), -1) {
		if word = strings.TrimSpace(word); !strings.HasSuffix(word, "(") && !slices.Contains(keywords, word) {
			names = append(names, word)
		}
	}
	return names
}

func TestMetricsAreFoundInQueries(t *testing.T) {
	cases := map[string][]string{
		`max by (namespace, name) (last_over_time(a_b{type="c",status="d"}[3m] offset 15m)) >= (e > 0) unless on (f) g`: {"a_b", "e", "g"},
		`label_values(a{namespace=~"$namespace"}, name)`:                                                                {"a"},
		`histogram_quantile(0.99, sum by (le) (rate(a_bucket[$__rate_interval])))`:                                      {"a_bucket"},
		`sum(a) - absent(b == 1)`: {"a", "b"},
	}
	for query, want := range cases {
		if got := namesIn(query); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}
