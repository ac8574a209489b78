/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// onNodes creates a cluster of three whose members are on different nodes.
func onNodes(changes ...func(*dbv1.DatabaseCluster)) []world.Step {
	return []world.Step{world.Nodes("n1", "n2", "n3"), createPair(world.PairEngine, changes...)}
}

func ignoresCordons(c *dbv1.DatabaseCluster) { c.Spec.Disruption.OnCordon = dbv1.CordonIgnore }

// drained are stories of nodes that are drained, of members on different nodes.
func drained(name string, steps ...world.Step) world.Story {
	return world.Tell(name, append(onNodes(), steps...)...)
}

// drainSequences test nodes that are drained.
var drainSequences = []world.Story{
	drained("drain-cordon", world.Cordon("n1"), world.LeadsNot("orders-0"), world.Moved(1), world.Uncordon("n1"), world.Moved(1)),
	drained("drain-pool",
		world.Cordon("n1", "n2", "n3"), world.Moved(0), world.Nodes("n4", "n5", "n6"), world.Drain("n2"), world.Moved(1), world.Leads("orders-1"),
		world.Drain("n1"), world.Leaves("n1"), world.Drain("n3"), world.Leaves("n3"), world.Leads("orders-1"), world.Moved(1),
	),
	drained("drain-pool-at-once",
		soon(2, world.Cordon("n1", "n2", "n3")), world.Nodes("n4", "n5", "n6"),
		together(world.Drain("n3"), world.Drain("n2"), world.Drain("n1")), world.Leaves("n1"), world.Leaves("n2"), world.Leaves("n3"), world.Moved(1),
	),
	drained("drain-rolling",
		handOverTo("orders-2"), world.Moved(1), world.Drain("n1"), world.Leaves("n1"), world.Uncordon("n1"), world.Drain("n2"), world.Leaves("n2"),
		world.Uncordon("n2"), world.Moved(1), world.Drain("n3"), world.Leaves("n3"), world.Moved(2),
	),
	drained("drain-no-other-node", world.Cordon("n2", "n3"), soon(60, world.Drain("n1")), world.Nodes("n4"), world.Leaves("n1")),
	drained("drain-rebuild", world.Cordon("n2"), rebuild("orders-0"), world.Leads("orders-2")),
	drained("drain-paused", world.Cordon("n2"), pause(true), world.Drain("n1"), world.Nodes("n4"), world.Leaves("n1"), pause(false)),
	drained("drain-operator-away", world.Away(true), world.Nodes("n4"), world.Drain("n1"), world.Leaves("n1"), world.Away(false), world.LeadsNot("orders-0")),
	drained("drain-hand-over-fails",
		world.Nodes("n4"), world.GoesWrong(world.Trouble{Verb: "hook", About: "handOver", Code: protocol.ExitPrecondition, Times: -1}),
		world.Cordon("n3"), world.Drain("n1"), world.Leaves("n1"), world.Mended("hook"), world.Uncordon("n1", "n3"),
	),
	world.Tell("drain-ignored", append(onNodes(ignoresCordons), world.Cordon("n1"), world.Leads("orders-0"))...),
	drained("drain-deleted", world.Cordon("n2"), remove()),
	world.Tell("drain-voters", world.Nodes("n1", "n2", "n3", "n4"), createVoters(), world.Drain("n1"), world.Leaves("n1")),
}

// drainMutants are mistakes with nodes that are drained.
var drainMutants = map[string]mutant{
	"a node that is cordoned counts as any other": {
		seenNodes(func(node *corev1.Node) { node.Spec.Unschedulable = node.Name == "n1" && node.Spec.Unschedulable }),
		"drain-pool-at-once", "the primary has moved",
	},
	"no drain is noticed": {
		seenNodes(func(node *corev1.Node) { node.Spec.Unschedulable = false }),
		"drain-cordon", "pod orders-0 is still the primary",
	},
}

// seenNodes changes the nodes that the operator sees.
func seenNodes(change func(*corev1.Node)) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, into, options...)
		if node, is := into.(*corev1.Node); is && err == nil {
			change(node)
		}
		return err
	}}
}

func init() { maps.Copy(dataMutants, drainMutants) }
