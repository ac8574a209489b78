/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"

	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Execute executes one operation of the plan. It creates a Job under a name that no other object has.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if create, is := o.(operation.Create); is {
		if exists, err := ofBackups.Exists(ctx, &r.Base, p.Object, create.Objects[0].Name()); exists || err != nil {
			return nil, err
		}
	}
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}
