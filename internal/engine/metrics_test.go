/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// measured is an engine with an exporter that gets one of two keys.
func measured() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.Container.Port, declared.Spec.Container.OtherPorts = 5000, []int32{5001}
	declared.Spec.Scripts = map[string]dbv1.EngineScript{"exporter": "#!/bin/sh\n"}
	generate := &dbv1.EngineSecretValue{}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: generate}, {Name: "metrics-password", Generate: generate}}
	declared.Spec.Metrics = &dbv1.EngineMetrics{Requests: "requests{$(CLUSTER)}", Sidecar: &dbv1.EngineExporter{
		Image: "exporter:1", Command: []string{"/dbc/scripts/exporter"}, Port: 9400, SecretKeys: []string{"metrics-password"},
	}}
	return declared
}

func monitoredCluster(mode dbv1.ClusterMonitoringMode) *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Name, c.Spec.Engine, c.Spec.Replicas, c.Spec.Monitoring = "orders", "ledger-v1", 1, &dbv1.ClusterMonitoring{Mode: mode}
	return c
}

func TestAClusterThatAsksForNoMetricsIsAsBefore(t *testing.T) {
	bare := monitoredCluster("")
	bare.Spec.Monitoring = nil
	before := measured()
	before.Spec.Metrics = nil
	if got, want := Resolve(bare, measured()), Resolve(bare, before); !reflect.DeepEqual(got, want) {
		t.Errorf("an engine with metrics changes a cluster without spec.monitoring: %+v", got.Spec)
	}
	if none := Resolve(monitoredCluster(dbv1.MonitoringNone), measured()); Exports(none) || none.Spec.Monitoring.Port != 0 {
		t.Errorf("the mode None has an exporter: %+v", none.Spec)
	}
}

func TestTheExporterHasOnlyItsOwnKeyAndTheCA(t *testing.T) {
	c := monitoredCluster(dbv1.MonitoringMetrics)
	c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	resolved := Resolve(c, measured())
	if !Exports(resolved) || resolved.Spec.Monitoring.Port != 9400 {
		t.Fatalf("there is no exporter: %+v", resolved.Spec)
	}
	var files []string
	for _, source := range resolved.Spec.Pod.Volumes[0].Projected.Sources {
		for _, item := range source.Secret.Items {
			files = append(files, source.Secret.Name+"/"+item.Key)
		}
	}
	if got, want := strings.Join(files, " "), "orders-credentials/metrics-password orders-tls/ca.crt"; got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	for _, mount := range resolved.Spec.Pod.Sidecars[0].VolumeMounts {
		if mount.Name != naming.ExporterVolume && mount.Name != naming.ScriptsVolume || !mount.ReadOnly {
			t.Errorf("it mounts %+v", mount)
		}
	}
	if again := Resolve(resolved, measured()); !reflect.DeepEqual(again.Spec, resolved.Spec) {
		t.Errorf("resolving again changes the cluster: %+v", again.Spec)
	}
}

func TestADatabaseThatServesMetricsItselfGetsNoSidecar(t *testing.T) {
	declared := measured()
	declared.Spec.Metrics.Sidecar, declared.Spec.Metrics.Port = nil, 5001
	c := monitoredCluster(dbv1.MonitoringPrometheus)
	c.Spec.Monitoring.Port = 1 // has no effect
	if got := Resolve(c, declared); Exports(got) || got.Spec.Monitoring.Port != 5001 || len(got.Spec.Pod.Volumes) > 0 {
		t.Errorf("%+v", got.Spec)
	}
}

func TestAKeyOfTheExporterIsNeededOnlyWithMonitoring(t *testing.T) {
	for mode, lacks := range map[dbv1.ClusterMonitoringMode]bool{"": false, dbv1.MonitoringNone: false, dbv1.MonitoringMetrics: true} {
		problem := KeyProblem(monitoredCluster(mode), measured(), []string{"password"}, nil, nil, nil)
		if strings.Contains(problem, "lacks the key metrics-password") != lacks {
			t.Errorf("%q: %q", mode, problem)
		}
	}
}

// The exporter starts before the database, and would take its port.
func TestAPortOfTheDatabaseIsRefusedForTheExporter(t *testing.T) {
	for port, refused := range map[int32]bool{0: false, 9401: false, 5000: true, 5001: true} {
		c := monitoredCluster(dbv1.MonitoringMetrics)
		c.Spec.Monitoring.Port = port
		reason, message := Refusal(Resolve(c, measured()), measured(), true)
		if (reason == dbv1.ReasonFieldUnsupported) != refused || refused && !strings.Contains(message, "spec.monitoring.port is") {
			t.Errorf("%d: %s: %s", port, reason, message)
		}
	}
}

// The shell is the one of the image. Here it is that of the machine.
func TestAnExporterThatEndsOrHasAnotherPasswordStartsAgainInItsContainer(t *testing.T) {
	folder := t.TempDir()
	starts, key := filepath.Join(folder, "starts"), filepath.Join(folder, "secrets", "metrics-password")
	if err := os.Mkdir(filepath.Dir(key), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, key, "first")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// It reads its password at the start only. The first one ends at once.
	exporter := `cat "$DBC_SECRETS_DIR"/* >> ` + starts + `; echo >> ` + starts + `; [ "$(wc -l < ` + starts + `)" -gt 1 ] || exit 3; exec sleep 600`
	shell := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(supervise, "sleep 5", "sleep 0.1"), "sh", "sh", "-c", exporter)
	shell.Env = append(os.Environ(), "DBC_SECRETS_DIR="+filepath.Dir(key))
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, starts, "first\nfirst\n")
	write(t, key, "second")
	eventually(ctx, t, starts, "first\nfirst\nsecond\n")
	if err := shell.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := shell.Wait(); err != nil {
		t.Errorf("it does not stop cleanly: %v", err)
	}
}

func TestAnExporterGetsAMemoryLimitBelowThatOfItsContainer(t *testing.T) {
	for name, c := range map[string]struct{ limit, own, want string }{
		"four fifths": {"134217728\n", "", "107374180"}, "no limit": {"max\n", "", ""}, "an empty file": {"", "", ""},
		"one of the engine": {"134217728\n", "64MiB", "64MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			limit, out := filepath.Join(folder, "memory.max"), filepath.Join(folder, "out")
			write(t, limit, c.limit)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			script := strings.ReplaceAll(supervise, "/sys/fs/cgroup/memory.max", limit)
			shell := exec.CommandContext(ctx, "sh", "-c", script, "sh", "sh", "-c", `printf '%s.' "$GOMEMLIMIT" > `+out+`; exec sleep 600`)
			shell.Env = append(os.Environ(), "DBC_SECRETS_DIR="+folder, "GOMEMLIMIT="+c.own)
			if err := shell.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(ctx, t, out, c.want+".")
			if err := shell.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = shell.Wait()
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func eventually(ctx context.Context, t *testing.T, file, want string) {
	t.Helper()
	for {
		text, _ := os.ReadFile(file) //nolint:gosec // a file of the test
		switch {
		case string(text) == want:
			return
		case ctx.Err() != nil:
			t.Fatalf("%s has %q, want %q", file, text, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestTheResourcesOfTheExporterAreThoseOfTheUser(t *testing.T) {
	c := monitoredCluster(dbv1.MonitoringMetrics)
	if few := Resolve(c, measured()).Spec.Pod.Sidecars[0].Resources; !reflect.DeepEqual(few.Requests, few.Limits) || len(few.Limits) != 2 {
		t.Errorf("%+v", few)
	}
	own := corev1.ResourceRequirements{Requests: smallExporter().Requests}
	c.Spec.Monitoring.Exporter.Resources = own
	if got := Resolve(c, measured()).Spec.Pod.Sidecars[0].Resources; !reflect.DeepEqual(got, own) {
		t.Errorf("%+v", got)
	}
}
