//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// settled is the time after which the operator has finished its work for a cluster that is Ready.
const settled = 30 * time.Second

// The API server counts the requests of the operator while clients write. Elections of the operator's leader and watches, which the
// API server ends every few minutes, do not count.
func TestAnIdleOperatorSendsNoRequest(t *testing.T) {
	duration, err := time.ParseDuration(cmp.Or(os.Getenv("DBC_DURATION"), "10m"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "on")
	requests, err := w.lab.CountRequests(t.Context(), operatorNamespace)
	w.must(err, "count the requests of the operator")
	w.withCluster("")
	writers, err := w.Write(t.Context(), "writers")
	w.must(err, "start writers")
	time.Sleep(settled)

	before, err := requests.Counted(t.Context())
	w.must(err, "count requests")
	time.Sleep(duration)
	after, err := requests.Counted(t.Context())
	w.must(err, "count requests")
	w.must(writers.AwaitProgress(t.Context()), "write until the end")
	rows, err := writers.Stop(t.Context())
	w.must(err, "stop the writers")
	text := fmt.Sprintf("in %v with 3 members and %d acknowledged rows: %s\n", duration, len(rows["service"])+len(rows["hosts"]), lab.Difference(before, after))
	fmt.Print(text)
	w.must(os.WriteFile(filepath.Join(output, "idle.txt"), []byte(text), 0o644), "write the result")
	if before[lab.Reads] != after[lab.Reads] || before[lab.Writes] != after[lab.Writes] {
		t.Error("the operator is not idle: " + text)
	}

	// The counters count.
	w.must(w.Annotate(t.Context(), dbv1.AnnotationRefresh, "1"), "request a pass")
	w.must(lab.Await(t.Context(), "a request that counts", func() bool {
		now, err := requests.Counted(t.Context())
		return err == nil && !maps.Equal(now, after) && now[lab.Reads] > after[lab.Reads]
	}), "count a pass")
}
