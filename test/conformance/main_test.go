//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package conformance runs an engine through its contract on the local node. `make conformance` runs it.
package conformance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/conformance/contract"
)

// The arguments of `make conformance`.
var (
	engineFile = os.Getenv("DBC_ENGINE")
	clientFile = os.Getenv("DBC_CLIENT")
	image      = os.Getenv("DBC_IMAGE")
	only       = strings.Fields(strings.ReplaceAll(os.Getenv("DBC_ONLY"), ",", " "))
	keep       = os.Getenv("DBC_KEEP") != ""
	output     = cmp.Or(os.Getenv("DBC_OUTPUT"), "../../dist/conformance")
)

func TestMain(m *testing.M) {
	if engineFile == "" || image == "" {
		fmt.Fprintln(os.Stderr, "conformance: name an engine and an image: make conformance ENGINE=FILE IMAGE=NAME")
		os.Exit(1)
	}
	if _, err := exec.LookPath("kubectl"); err != nil || os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "conformance: run the tests with `make conformance` as root on the node: they send signals to processes of members")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// check is one row of the contract.
type check struct {
	name string
	// lacks returns why the engine does not offer it; "" if it does.
	lacks func(*trial) string
	run   func(context.Context, *trial) (seen string, err error)
	// alone marks checks that need no cluster.
	alone bool
}

func TestTheEngineKeepsItsContract(t *testing.T) {
	trial, err := newTrial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := trial.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var rows []contract.Row
	for _, c := range contractOf(trial) {
		if len(only) > 0 && !slices.Contains(only, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			row := trial.judge(t.Context(), c)
			rows = append(rows, row)
			if row.Outcome == contract.Failed {
				t.Error(row.Seen)
			}
		})
	}
	write(t, contract.Table(trial.engine, image, rows))
}

// write prints the table, and stores it in dist/conformance.
func write(t *testing.T, table string) {
	t.Helper()
	fmt.Print("\n", table, "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(table, "# "), "\n")
	if err := os.MkdirAll(output, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(output, name+".md"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
}

// judge runs a check on a cluster that is ready, and prints its result.
func (t *trial) judge(ctx context.Context, c check) contract.Row {
	if c.lacks != nil {
		if why := c.lacks(t); why != "" {
			fmt.Printf("%-20s not offered: %s\n", c.name, why)
			return contract.Row{Name: c.name, Outcome: contract.NotOffered, Seen: why}
		}
	}
	fmt.Printf("%-20s ...\n", c.name)
	start := time.Now()
	seen, err := t.attempt(ctx, c)
	row := contract.Row{Name: c.name, Outcome: contract.Passed, Seconds: time.Since(start).Seconds(), Seen: seen}
	if err != nil {
		row.Outcome, row.Seen = contract.Failed, err.Error()
		t.suspect = true
	}
	fmt.Printf("%-20s %s after %.0f s: %s\n", c.name, row.Outcome, row.Seconds, row.Seen)
	return row
}

// tell prints every ten seconds what the operator waits for, until the check has ended.
func (t *trial) tell(ctx context.Context, name string) {
	start := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
		var all dbv1.DatabaseClusterList
		_ = t.List(ctx, &all, client.InNamespace(t.Namespace))
		fmt.Printf("%-20s %.0f s", name, time.Since(start).Seconds())
		for _, cluster := range all.Items {
			if ready := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionReady); ready != nil {
				fmt.Printf("; %s Ready %s: %s", cluster.Name, ready.Status, ready.Message)
			}
		}
		fmt.Println()
	}
}

func (t *trial) attempt(ctx context.Context, c check) (string, error) {
	telling, stop := context.WithCancel(ctx)
	defer stop()
	go t.tell(telling, c.name)
	if !c.alone {
		if err := t.withCluster(ctx); err != nil {
			return "", fmt.Errorf("no cluster to check: %w", err)
		}
	}
	return c.run(ctx, t)
}
