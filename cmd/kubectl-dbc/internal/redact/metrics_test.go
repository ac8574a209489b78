/*
SPDX-License-Identifier: Apache-2.0
*/

package redact_test

import (
	"testing"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
)

func TestMetricsOfOtherClustersAreRemoved(t *testing.T) {
	text := `# HELP databasecluster_info The image.
databasecluster_info{image="database:1",name="orders",namespace="shop"} 1
databasecluster_info{image="database:1",name="orders",namespace="bank"} 1
databasecluster_info{image="database:1",name="ledger",namespace="shop"} 1
databasecluster_operator_leading 1
workqueue_depth{controller="databasecluster",name="databasecluster"} 0
`
	want := `# HELP databasecluster_info The image.
databasecluster_info{image="database:1",name="orders",namespace="shop"} 1
databasecluster_operator_leading 1
workqueue_depth{controller="databasecluster",name="databasecluster"} 0
`
	if got := redact.Metrics(text, "shop", "orders"); got != want {
		t.Errorf("got\n%s", got)
	}
}
