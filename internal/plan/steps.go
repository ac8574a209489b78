/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RestartMember deletes a member's pod; the StatefulSet makes it anew from the current template.
type RestartMember struct{ Member state.Member }

// Scale lowers the replicas of the StatefulSet to To, so that the member with that ordinal stops. Stop
// says that all of them go for good; the StatefulSet is marked, and the hooks never run again.
type Scale struct {
	To   int32
	Stop bool
}

// RunHook starts a deletion hook.
type RunHook struct {
	Hook string
	Job  resources.Child
}

// Finalize takes our finalizer off the cluster, which is then gone.
type Finalize struct{}

func (RestartMember) step() {}
func (Scale) step()         {}
func (RunHook) step()       {}
func (Finalize) step()      {}

func (s RestartMember) String() string { return "restart " + s.Member.Name }
func (s Scale) String() string         { return fmt.Sprintf("scale in to %d", s.To) }
func (s RunHook) String() string       { return fmt.Sprintf("start deletion hook %q as %s", s.Hook, s.Job) }
func (Finalize) String() string        { return "take off the finalizer" }
