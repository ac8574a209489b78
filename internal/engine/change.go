/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Named is an engine by its name, as a spec or a claim has it. Declared is nil if the name is empty, or if no such engine can be read.
type Named struct {
	Name     string
	Declared *dbv1.DatabaseEngine
}

// topology returns the relation between the members. Members without an engine are independent. The topology of an engine that
// cannot be read is not known.
func (n Named) topology() (topology dbv1.EngineTopology, known bool) {
	switch {
	case n.Name == "":
		return dbv1.TopologyIndependent, true
	case n.Declared == nil:
		return "", false
	default:
		return cmp.Or(n.Declared.Spec.Topology, dbv1.TopologyIndependent), true
	}
}

// RefusedChange is a change of spec.engine that the operator refuses. The cluster keeps the engine of its data.
type RefusedChange struct {
	Data, Asked Named
}

// ChangeOf returns the change from the engine of the data to another one, if the operator refuses it; otherwise nil. It accepts a
// change only between engines that are known to have the same topology. A member of another topology would overwrite data that
// only its own volume has, or continue apart from the others.
func ChangeOf(data, asked Named) *RefusedChange {
	before, knownBefore := data.topology()
	after, known := asked.topology()
	if data.Name == asked.Name || knownBefore && known && before == after {
		return nil
	}
	return &RefusedChange{Data: data, Asked: asked}
}

// InForce returns the cluster with the engine of its data. It does not change its argument.
func (c *RefusedChange) InForce(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	if c == nil {
		return cluster
	}
	kept := cluster.DeepCopy()
	kept.Spec.Engine = c.Data.Name
	return kept
}

// Refusal returns why the operator refuses the change and how to correct it, with the reason for the condition Stalled.
func (c *RefusedChange) Refusal() (reason, message string) {
	after, known := c.Asked.topology()
	if !known {
		return missing(c.Asked.Name)
	}
	before, known := c.Data.topology()
	if !known {
		return dbv1.ReasonEngineIncompatible, fmt.Sprintf(
			"spec.engine is %q, but the data is of engine %q, and its topology is unknown, because that DatabaseEngine cannot be read. "+
				"Create DatabaseEngine %[2]s again, or set spec.engine to %[2]q",
			c.Asked.Name, c.Data.Name)
	}
	return dbv1.ReasonEngineIncompatible, fmt.Sprintf(
		"spec.engine is %q with the topology %s, but the data is of %s with the topology %s, which its members cannot use. %s. To change the "+
			"topology, %s",
		c.Asked.Name, after, described(c.Data.Name), before, c.undo(), c.wayOn())
}

// undo is the correction that needs no other cluster.
func (c *RefusedChange) undo() string {
	if c.Data.Name == "" {
		return "Remove spec.engine"
	}
	return fmt.Sprintf("Set spec.engine to %q", c.Data.Name)
}

// wayOn is how the data gets into members of the other topology.
func (c *RefusedChange) wayOn() string {
	if c.Asked.Declared != nil && slices.Contains(c.Asked.Declared.Spec.RestoresFrom, c.Data.Name) {
		return fmt.Sprintf("create a new DatabaseCluster with spec.engine %q that restores a backup of this one (spec.bootstrap.fromBackup)",
			c.Asked.Name)
	}
	return "create a new DatabaseCluster, and copy the data with the tools of the database"
}

func described(name string) string {
	if name == "" {
		return "members without an engine"
	}
	return fmt.Sprintf("engine %q", name)
}

func missing(name string) (reason, message string) {
	return dbv1.ReasonEngineMissing, fmt.Sprintf(
		"spec.engine names DatabaseEngine %s, which does not exist: create it, or choose one from kubectl get databaseengines", name)
}
