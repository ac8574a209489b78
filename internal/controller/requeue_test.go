/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestOnlyWhatOthersWriteIsReadPeriodically(t *testing.T) {
	t.Parallel()
	r := &Reconciler{ReferencePeriod: 5 * time.Minute}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	own, others := pods.Reference{Name: "own", Own: true}, pods.Reference{Name: "others"}
	for name, c := range map[string]struct {
		observed  state.Observed
		protected bool
		plan      time.Duration
		want      time.Duration
	}{
		"nothing":                          {},
		"a Secret of the operator":         {observed: state.Observed{References: []pods.Reference{own}}},
		"a Secret of the user":             {observed: state.Observed{References: []pods.Reference{own, others}}, want: 5 * time.Minute},
		"a Secret of the user, and sooner": {observed: state.Observed{References: []pods.Reference{others}}, plan: time.Second, want: time.Second},
		"a Secret of the user, and later":  {observed: state.Observed{References: []pods.Reference{others}}, plan: time.Hour, want: 5 * time.Minute},
		"a member that is not ready":       {observed: state.Observed{At: now, Members: []state.Member{{ReadySince: metav1.NewTime(now)}}}, plan: time.Hour, want: 10 * time.Second},
		"admission policies":               {protected: true, want: 5 * time.Minute},
	} {
		p := pass{Object: &dbv1.DatabaseCluster{}, Facts: &situation.Situation{Observed: c.observed}}
		p.Object.Spec.Deletion.Protection = c.protected
		p.Plan.RequeueAfter = c.plan
		if got, ok := r.RequeueAfter(p); got != c.want || !ok {
			t.Errorf("%s: the next pass is after %v, want %v", name, got, c.want)
		}
	}
}
