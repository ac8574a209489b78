/*
SPDX-License-Identifier: Apache-2.0
*/

package status_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/status"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// BenchmarkIdle decides and reports for a cluster of three members that matches its spec.
func BenchmarkIdle(b *testing.B) {
	cluster := plans.Orders()
	observed := plans.Standing(b, cluster)
	for b.Loop() {
		s := situation.Of(cluster, observed)
		status.Of(status.Pass{Situation: s, Plan: plan.For(s)}, metav1.Now())
	}
}
