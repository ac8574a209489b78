/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// OfNow shows what the next pass of the operator would change in a cluster.
func OfNow(ctx context.Context, c client.Client, cluster *dbv1.DatabaseCluster) (Preview, error) {
	s, err := observe(ctx, c, cluster, "")
	if err != nil {
		return Preview{}, err
	}
	return Pending(s), nil
}

// someImage stands for the image of the operator, which this program does not know: without one, the operator creates no Jobs for data.
const someImage = "the operator's image"

// OfSpec shows what another spec of a cluster would change. Before is nil for a new cluster, and after is not stored.
func OfSpec(ctx context.Context, c client.Client, before, after *dbv1.DatabaseCluster) (Preview, error) {
	var was *situation.Situation
	if before != nil {
		var err error
		if was, err = observe(ctx, c, before, someImage); err != nil {
			return Preview{}, err
		}
	}
	s, err := observe(ctx, c, after, someImage)
	if err != nil {
		return Preview{}, err
	}
	return Spec(was, s), nil
}

// observe reads what a pass of the operator reads for a cluster, with the rights of the user.
func observe(ctx context.Context, c client.Client, cluster *dbv1.DatabaseCluster, image string) (*situation.Situation, error) {
	now := clock.RealClock{}
	r := &controller.Reconciler{
		Started: now.Now(), ClusterDomain: "cluster.local", TransferImage: image,
		Base: kit.Base{Cached: c, Live: c, Writer: apply.Writer{Client: c, Live: c}, Clock: now},
	}
	s, err := r.Observe(ctx, cluster.DeepCopy(), r.Reading(cluster, true))
	switch {
	case err != nil:
		return nil, fmt.Errorf("diff needs to read what the operator reads for DatabaseCluster %s: %w", cluster.Name, err)
	case s.EngineUnreadable != "": // the operator may read it
		return nil, fmt.Errorf("diff needs to read DatabaseEngine %s: %s", cluster.Spec.Engine, s.EngineUnreadable)
	}
	return s, nil
}
