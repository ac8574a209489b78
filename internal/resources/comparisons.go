/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Comparisons remember for each cluster with which inputs all its live objects were as desired. So a pass with the same inputs
// compares nothing, and renders nothing. Nil remembers nothing.
type Comparisons struct {
	mutex  sync.Mutex
	inputs map[types.UID]string
}

// mostComparisons is the number of clusters that are remembered. Then the memory begins again.
const mostComparisons = 1 << 16

// Agreed reports whether the objects of a cluster were as desired with these inputs.
func (c *Comparisons) Agreed(cluster types.UID, inputs string) bool {
	if c == nil {
		return false
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.inputs[cluster] == inputs
}

// Agree remembers that the objects of a cluster are as desired with these inputs.
func (c *Comparisons) Agree(cluster types.UID, inputs string) {
	if c == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.inputs == nil || len(c.inputs) >= mostComparisons {
		c.inputs = map[types.UID]string{}
	}
	c.inputs[cluster] = inputs
}
