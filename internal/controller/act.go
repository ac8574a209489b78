/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if record, is := o.(operation.Record); is {
		p.Plan.Recorded = append(p.Plan.Recorded, record)
	}
	if acting, is := o.(subject.Acting); is {
		return acting.Act(ctx, subject.Means{Cluster: p.Facts.Cluster, Writer: r.Writer, Live: r.Live, Random: r.Random, At: p.Facts.At})
	}
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Message}.Execute(ctx, o)
}
