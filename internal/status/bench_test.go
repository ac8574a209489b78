/*
SPDX-License-Identifier: Apache-2.0
*/

package status_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/status"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// BenchmarkIdle decides and reports for a cluster of three members that matches its spec, after an earlier pass.
func BenchmarkIdle(b *testing.B) { benchmark(b, &objects.Comparisons{}) }

// BenchmarkFirst does the same after a start of the operator.
func BenchmarkFirst(b *testing.B) { benchmark(b, nil) }

func benchmark(b *testing.B, known *objects.Comparisons) {
	cluster := plans.Orders()
	observed := plans.Standing(b, cluster)
	for b.Loop() {
		s := situation.Of(cluster, observed)
		s.Comparisons = known
		status.Of(status.PassResult{Situation: s, Plan: plan.For(s)}, metav1.Now())
	}
}
