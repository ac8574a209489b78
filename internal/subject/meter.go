/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Meter measures the volumes of clusters that ask. It never waits: it answers with the last measurement, and measures periodically
// from then on. A cluster has a pass when its answer has changed.
type Meter interface {
	// Ask returns what is known about the volumes on nodes with these addresses, by the name of the node. A cluster that asks about no
	// node is not measured any more.
	Ask(cluster types.NamespacedName, nodes map[string]string) map[string]state.NodeUsage
}
