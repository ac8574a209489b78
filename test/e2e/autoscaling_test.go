//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// autoscalers change the members of a cluster, and the pods of a pooler, faster than those of config/samples/gallery. The load is far above
// the targets, and an idle database far below.
const autoscalers = pooler + `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: ledger}
spec:
  scaleTargetRef: {apiVersion: database.dbcluster.io/v1alpha1, kind: DatabaseCluster, name: ledger}
  minReplicas: 2
  maxReplicas: 4
  metrics:
  - {type: ContainerResource, containerResource: {container: database, name: cpu, target: {type: AverageValue, averageValue: 150m}}}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 2, periodSeconds: 15}]}
    scaleDown: {stabilizationWindowSeconds: 15, policies: [{type: Pods, value: 2, periodSeconds: 15}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: pool}
spec:
  scaleTargetRef: {apiVersion: database.dbcluster.io/v1alpha1, kind: DatabaseCompanion, name: pool}
  minReplicas: 1
  maxReplicas: 2
  metrics:
  - {type: ContainerResource, containerResource: {container: companion, name: cpu, target: {type: AverageValue, averageValue: 90m}}}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 15}]}
    scaleDown: {stabilizationWindowSeconds: 15, policies: [{type: Pods, value: 1, periodSeconds: 15}]}
`

// load is a pod whose clients connect again every five seconds, as those of a pool with a maximum lifetime do. Two write through the pooler
// all the time. While the file load exists, three ask the pooler, and four keep the replicas busy. A reader compares the newest row that it finds
// with the clock. The file seen has the commits, the errors of the pooler and of the replicas, and the age of the oldest answer of a replica.
//
//go:embed testdata/load.py
var load string

// sample is the state at a moment. Wanted is spec.replicas, which the autoscaler writes.
type sample struct {
	Seconds      int     `json:"seconds"`
	Load         bool    `json:"load"`
	Wanted       int     `json:"wanted"`
	Members      int     `json:"members"`
	Ready        int     `json:"ready"`
	Poolers      int     `json:"poolers"`
	ReadyPoolers int     `json:"readyPoolers"`
	LagBytes     int     `json:"lagBytes"`
	Commits      int     `json:"commits"`
	PoolErrors   int     `json:"poolErrors"`
	ReadErrors   int     `json:"replicaErrors"`
	Age          float64 `json:"age"` // seconds
}

// elastic is a story with its samples.
type elastic struct {
	world
	began   time.Time
	load    bool
	samples []sample
}

// look takes a sample.
func (e *elastic) look() sample {
	e.Helper()
	s := sample{Seconds: int(time.Since(e.began).Seconds()), Load: e.load}
	const counts = "jsonpath={.spec.replicas} {.status.replicas} {.status.readyReplicas}"
	var wantedPoolers int
	for object, fields := range map[string][]any{
		"databasecluster/ledger": {&s.Wanted, &s.Members, &s.Ready}, "databasecompanion/pool": {&wantedPoolers, &s.Poolers, &s.ReadyPoolers},
	} {
		if text := e.do("get", object, "-o", counts); text != "" {
			_, _ = fmt.Sscan(text, fields...)
		}
	}
	lag := e.ask("ledger", "SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0)::bigint FROM pg_stat_replication")
	_, _ = fmt.Sscan(lag, &s.LagBytes)
	if err := json.Unmarshal([]byte(e.do("exec", "clients", "--", "cat", "/tmp/seen")), &s); err != nil {
		e.Fatal(err)
	}
	e.samples = append(e.samples, s)
	return s
}

// until takes samples until the cluster has a number of ready members, and the pooler one of ready pods. It returns how long that took.
func (e *elastic) until(members, poolers int) time.Duration {
	e.Helper()
	began := time.Now()
	for time.Since(began) < patience {
		if s := e.look(); s.Members == members && s.Ready == members && s.Poolers == poolers && s.ReadyPoolers == poolers {
			return time.Since(began)
		}
		time.Sleep(4 * time.Second)
	}
	e.report()
	e.Fatalf("no %d members and %d poolers within %s:\n%s", members, poolers, patience, e.do("describe", "horizontalpodautoscalers"))
	return 0
}

// busy lets the clients of the load work, or not.
func (e *elastic) busy(load bool) {
	e.Helper()
	e.load = load
	e.do("exec", "clients", "--", map[bool]string{true: "touch", false: "rm"}[load], "/tmp/load")
}

// report prints the samples, and writes them to the file in DBC_AUTOSCALING.
func (e *elastic) report() {
	e.Helper()
	table, lines := strings.Builder{}, strings.Builder{}
	for _, s := range e.samples {
		fmt.Fprintf(&table, "%5d %5t %6d %7d %5d %7d %5d %8d %7d %6d %6d %5.1f\n", s.Seconds, s.Load, s.Wanted, s.Members, s.Ready, s.Poolers, s.ReadyPoolers,
			s.LagBytes, s.Commits, s.PoolErrors, s.ReadErrors, s.Age)
		text, _ := json.Marshal(s)
		lines.WriteString(string(text) + "\n")
	}
	e.Logf("\n%5s %5s %6s %7s %5s %7s %5s %8s %7s %6s %6s %5s\n%s", "s", "load", "wanted", "members", "ready", "poolers", "ready", "lag", "commits", "pool!", "reads!",
		"age", table.String())
	if file := os.Getenv("DBC_AUTOSCALING"); file != "" {
		e.must(os.WriteFile(file, []byte(lines.String()), 0o600) == nil, "%s cannot be written", file)
	}
}

// The database is scaled by the real autoscaler and the real metrics of its pods. The second time, the members have the volumes of the first.
func TestAutoscalersAddAndRemoveMembersUnderLoad(t *testing.T) {
	w := newExclusiveWorld(t)
	w.needs(poolerImage)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "  replicas: 3\n", "") // which autoscalers set
	w.startMetricsServer()
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE written (at float8); CREATE INDEX ON written (at); GRANT ALL ON written TO app; INSERT INTO written VALUES (extract(epoch FROM now()))")
	w.apply(autoscalers)
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "--timeout=120s")
	w.runPython("clients", load)
	w.eventually("commits", "exec", "clients", "--", "cat", "/tmp/seen")

	requested, e := w.requestsOfTheOperator(), &elastic{world: w, began: time.Now()}
	e.until(2, 1)
	e.busy(true)
	copied := e.until(4, 2)
	w.must(w.primary() == "ledger-0", "%s is the primary", w.primary())
	e.busy(false)
	e.until(2, 1)
	claims := w.claims()
	w.must(len(strings.Fields(claims)) == 4, "the claims are %s", claims)
	w.ask("ledger", "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 60000)") // more than a new replica may lack
	e.busy(true)
	kept := e.until(4, 2)
	w.must(w.claims() == claims, "the members have other volumes")
	w.must(w.primary() == "ledger-0", "%s is the primary", w.primary())
	e.do("exec", "clients", "--", "touch", "/tmp/stop")
	w.eventually("Succeeded", "get", "pod", "clients", "-o", "jsonpath={.status.phase}")
	e.report()
	t.Logf("with new volumes 4 members were ready after %.0f s of load, with kept ones after %.0f s; the operator: %s", copied.Seconds(), kept.Seconds(), requested())
	e.judge()
}

// judge compares the rows with what the clients have seen.
func (e *elastic) judge() {
	e.Helper()
	logs := e.do("logs", "clients")
	_, text, _ := strings.Cut(logs, "SEEN ")
	var last sample
	if err := json.Unmarshal([]byte(text), &last); err != nil {
		e.Fatal(err, logs)
	}
	e.Logf("%d commits, %d errors of the pooler, %d of the replicas", last.Commits, last.PoolErrors, last.ReadErrors)
	e.must(last.PoolErrors == 0, "clients of the pooler have seen errors:\n%s", logs)
	rows := e.ask("ledger", "SELECT count(*) - 1 FROM written")
	e.must(rows == fmt.Sprint(last.Commits), "%s rows of %d commits", rows, last.Commits)
	for _, s := range append(e.samples, last) {
		e.must(s.Age < 20, "after %d s, a reader of the replicas has seen the database of %.1f s before", s.Seconds, s.Age)
	}
	e.Log(e.do("get", "events", "--field-selector=reason=Unhealthy", "-o", `jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}`))
}
