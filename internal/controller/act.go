/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// execution executes the plan of one pass.
type execution struct {
	*Reconciler
	*situation.Situation
}

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if record, is := o.(operation.Record); is {
		p.Plan.Recorded = &record
	}
	switch o := o.(type) {
	case subject.Acting:
		return o.Act(ctx, subject.Means{Cluster: p.Facts.Cluster, Writer: r.Writer, Live: r.Live, Random: r.Random, At: p.Facts.At})
	case operation.Lifecycle:
		return execution{r, p.Facts}.onLifecycle(ctx, o)
	default:
		return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Message}.Execute(ctx, o)
	}
}

func unknown(o operation.Operation) error { return fmt.Errorf("unknown operation %T", o) }
