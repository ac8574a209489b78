//go:build objects && metrics

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/monitoring"
)

// account is the user of the exporter of PostgreSQL.
const account = "dbc_metrics"

// observed is a server with its exporter and a Prometheus that scrapes it. All of them are the real programs.
type observed struct {
	*database
	cluster          *dbv1.DatabaseCluster
	declared         *dbv1.DatabaseEngine
	exporter, server string
	shell            *exec.Cmd
}

// observe starts all of them. The exporter runs as in its container, below the shell that starts it again.
func observe(t *testing.T) *observed {
	t.Helper()
	text, err := os.ReadFile("postgresql-v1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{database: newDatabase(t, "postgresql-v1"), declared: &dbv1.DatabaseEngine{}, exporter: freePort(t), server: freePort(t)}
	if err := yaml.UnmarshalStrict(text, o.declared); err != nil {
		t.Fatal(err)
	}
	o.cluster = &dbv1.DatabaseCluster{}
	o.cluster.Namespace, o.cluster.Name, o.cluster.Spec.Engine = "shop", "orders", "postgresql-v1"
	o.cluster.Spec.Monitoring = &dbv1.ClusterMonitoring{Mode: dbv1.MonitoringPrometheus}
	o.cluster = engine.Resolve(o.cluster, o.declared)
	o.secret("first")
	o.export()
	o.scrape()
	return o
}

// secret writes the password of the Secret, and puts it in force by the script of the engine.
func (o *observed) secret(password string) {
	o.t.Helper()
	for name, text := range map[string]string{
		"secrets/replication-password": "r", "secrets/owner-password": "o", "secrets/metrics-password": password, "exporter/metrics-password": password,
	} {
		file := filepath.Join(o.folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			o.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(o.t.Context(), "/usr/bin/python3", "-c", `import common; common.set_passwords(common.connect("127.0.0.1"))`)
	scripts, err := filepath.Abs("postgresql-v1/scripts")
	if err != nil {
		o.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+scripts+":"+os.Getenv("PYTHONPATH"), "DBC_DATA_DIR="+o.folder,
		"DBC_SECRETS_DIR="+filepath.Join(o.folder, "secrets"), "DBC_PORT="+o.database.port, "DBC_OWNER=app")
	if said, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%v: %s", err, said)
	}
}

// run starts a program that ends with the test.
func (o *observed) run(cmd *exec.Cmd) {
	o.t.Helper()
	log, err := os.Create(filepath.Join(o.folder, filepath.Base(cmd.Path)+".log"))
	if err != nil {
		o.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); o.t.Failed() {
			o.t.Logf("%s: %s", cmd.Path, text)
		}
		_ = log.Close()
	})
}

// export starts the exporter with the command and the variables of its container.
func (o *observed) export() {
	o.t.Helper()
	script, err := filepath.Abs("postgresql-v1/scripts/exporter")
	if err != nil {
		o.t.Fatal(err)
	}
	sidecar := o.cluster.Spec.Pod.Sidecars[0]
	words := append([]string{}, sidecar.Command...)
	words[len(words)-1] = script
	o.shell = exec.CommandContext(context.WithoutCancel(o.t.Context()), words[0], words[1:]...) //nolint:gosec // of the engine
	o.shell.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, variable := range sidecar.Env {
		o.shell.Env = append(o.shell.Env, variable.Name+"="+variable.Value)
	}
	o.shell.Env = append(o.shell.Env, "DBC_PORT="+o.database.port, "DBC_METRICS_PORT="+o.exporter, "DBC_SECRETS_DIR="+filepath.Join(o.folder, "exporter"))
	o.run(o.shell)
}

// scrape starts Prometheus with the rules of the cluster and the labels that its PodMonitor gives to a target.
func (o *observed) scrape() {
	o.t.Helper()
	rule := monitoring.PrometheusRule(o.cluster, o.declared.Spec.Metrics).Object.Object["spec"]
	rules, err := yaml.Marshal(rule)
	if err != nil {
		o.t.Fatal(err)
	}
	write(o.t, filepath.Join(o.folder, "prometheus"), map[string]string{"rules.yml": string(rules), "prometheus.yml": fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
- job_name: shop/orders-metrics
  static_configs:
  - targets: ["127.0.0.1:%s"]
    labels: {namespace: shop, pod: orders-0, dbcluster: orders}
`, o.exporter)})
	folder := filepath.Join(o.folder, "prometheus")
	o.run(exec.CommandContext(context.WithoutCancel(o.t.Context()), "prometheus", "--config.file="+filepath.Join(folder, "prometheus.yml"), //nolint:gosec // a constant
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address=127.0.0.1:"+o.server))
}

// promtool runs promtool.
func (o *observed) promtool(words ...string) (string, error) {
	said, err := exec.CommandContext(o.t.Context(), "promtool", words...).CombinedOutput() //nolint:gosec // these arguments
	return string(said), err
}

// query evaluates an expression by promtool on the series of Prometheus: the sum of its values, and how many there are.
func (o *observed) query(expression string) (sum float64, series int) {
	said, err := o.promtool("query", "instant", "http://127.0.0.1:"+o.server, expression)
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(said) {
		if _, value, found := strings.Cut(line, "=> "); found {
			number, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			sum, series = sum+number, series+1
		}
	}
	return sum, series
}

// until repeats an action until a condition holds.
func (o *observed) until(what string, act func(), holds func() bool) {
	o.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatalf("%s: not within two minutes", what)
		}
		act()
	}
}

// load is what applications do: long and short transactions, and half of them roll back.
func (o *observed) load() {
	o.ask("postgres", "SELECT count(*) FROM generate_series(1, 100000)")
	o.ask("postgres", "BEGIN; SELECT 1; ROLLBACK")
}

// page is what the exporter serves.
func (o *observed) page() string {
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, "http://127.0.0.1:"+o.exporter+"/metrics", nil)
	if err != nil {
		o.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func (o *observed) logsIn() bool { return strings.Contains(o.page(), "\npg_up 1\n") }

func TestPrometheusKnowsTheRequestsErrorsAndDurationOfPostgreSQL(t *testing.T) {
	o := observe(t)
	if said, err := o.promtool("check", "rules", filepath.Join(o.folder, "prometheus", "rules.yml")); err != nil {
		t.Fatal(said)
	}
	for _, name := range []string{"requests:rate5m", "errors:rate5m", "duration_seconds:mean5m", "saturation:ratio"} {
		name = `dbcluster:` + name + `{namespace="shop",dbcluster="orders",pod="orders-0",engine="postgresql-v1"}`
		o.until(name, o.load, func() bool { sum, series := o.query(name); return sum > 0 && series == 1 })
	}
	if errors, _ := o.query("dbcluster:errors:rate5m"); errors > 0 {
		if requests, _ := o.query("dbcluster:requests:rate5m"); requests <= errors {
			t.Errorf("%f requests, and %f errors", requests, errors)
		}
	}
	o.until("the alert about errors is pending", o.load, func() bool {
		_, series := o.query(`ALERTS{alertname="DatabaseErrorsHigh",alertstate="pending"}`)
		return series == 1
	})
	if _, series := o.query(`{__name__=~"pg_stat_statements.*"}`); series > 0 {
		t.Errorf("%d series have statements", series)
	}
	if all := strings.Count(o.page(), "\npg_"); all > 600 {
		t.Errorf("the exporter of an empty database serves %d series", all)
	}
}

func TestTheExporterOfPostgreSQLStartsAgainAndFollowsARotation(t *testing.T) {
	o := observe(t)
	o.until("a login", func() {}, o.logsIn)
	children := func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", o.shell.Process.Pid, o.shell.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	number, err := strconv.Atoi(strings.Fields(children())[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(number, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.until("another exporter", func() {}, func() bool { return !strings.HasPrefix(children(), strconv.Itoa(number)) && o.logsIn() })

	o.secret("second")
	o.ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+account+"'")
	o.until("a login with the next password", func() {}, o.logsIn)
	if got := o.as(account, "first", "postgres", "SELECT 1"); !strings.Contains(got, "password authentication failed") {
		t.Errorf("the previous password: %s", got)
	}
}

func TestTheAccountOfTheExporterOfPostgreSQLReadsStatisticsOnly(t *testing.T) {
	o := observe(t)
	o.ask("postgres", `CREATE TABLE public.orders (n int); CREATE DATABASE app;
		CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'hijacked' $$; GRANT USAGE, CREATE ON SCHEMA public TO PUBLIC`)
	for statement, want := range map[string]string{
		"SELECT * FROM public.orders":                                       "permission denied for table orders",
		"CREATE TABLE public.mine (n int)":                                  "read-only transaction",
		"SELECT rolpassword FROM pg_authid":                                 "permission denied",
		"SELECT pg_read_file('postgresql.conf')":                            "permission denied",
		"COPY (SELECT 1) TO PROGRAM 'true'":                                 "must be superuser or have privileges of the pg_execute_server_program role",
		"SET default_transaction_read_only = off; CREATE ROLE another":      "permission denied",
		"SET ROLE postgres":                                                 "permission denied",
		"SHOW search_path":                                                  "pg_catalog, pg_temp",
		"SELECT version() LIKE 'PostgreSQL%'":                               "t",
		"SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user":    "5",
		"SELECT count(*) > 0 FROM pg_stat_activity WHERE query IS NOT NULL": "t",
	} {
		if got := o.as(account, "first", "postgres", statement); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}
