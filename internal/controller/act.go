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
	// message is the current action of the pass, or what it waits for.
	message string
}

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if record, is := o.(operation.Record); is {
		p.Plan.Recorded = &record
	}
	return execution{r, p.Facts, p.Plan.Message}.execute(ctx, o)
}

// execute executes one operation.
func (e execution) execute(ctx context.Context, o operation.Operation) ([]kit.Event, error) {
	switch o := o.(type) {
	case subject.Acting:
		return o.Act(ctx, subject.Means{Cluster: e.Cluster, Writer: e.Writer, Live: e.Live, Random: e.Random, At: e.At})
	case operation.Lifecycle:
		return e.onLifecycle(ctx, o)
	case operation.Members:
		return e.onMembers(ctx, o)
	default:
		return execute.Hands{Base: e.Base, Object: e.Declared, Purpose: e.message}.Execute(ctx, o)
	}
}

func unknown(o operation.Operation) error { return fmt.Errorf("unknown operation %T", o) }
