/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RestartMember deletes a member's pod; the StatefulSet makes it anew from the current template.
type RestartMember struct{ Member state.Member }

// StopMember deletes the pod of a member that has no StatefulSet; it does not come back.
type StopMember struct{ Member state.Member }

// ResizeMember gives the database of a running member other resources; where the API server refuses that, the
// member is restarted instead, which may be done under the same conditions.
type ResizeMember struct {
	Member    state.Member
	Resources corev1.ResourceRequirements
}

// RecreateStatefulSet deletes the StatefulSet and leaves its pods alone; the next pass makes it anew.
type RecreateStatefulSet struct{}

// Scale lowers the replicas of the StatefulSet to To, so that the member with that ordinal stops. Stop
// says that all of them go for good; the StatefulSet is marked, and the hooks never run again.
type Scale struct {
	To   int32
	Stop bool
}

// RunHook starts a deletion hook.
type RunHook struct {
	Hook string
	// Object is the Job or DatabaseBackup that does it.
	Object resources.Child
}

// MakeVolumes makes the claims of volumes that a backup is going to be restored into.
type MakeVolumes struct{ Claims []resources.Child }

// StartRestore starts the Jobs that restore a backup.
type StartRestore struct {
	From string
	Jobs []resources.Child
}

// FinishRestore marks the claims of the volumes that a backup has been restored into; members may use them then.
type FinishRestore struct {
	From    string
	Volumes []state.Volume
}

// HoldMember puts our finalizer on the pod of a member that is about to stop, so that its end can be read.
type HoldMember struct{ Member state.Member }

// Finalize takes our finalizer off the cluster, which is then gone.
type Finalize struct {
	// Kept says why volumes are kept although the spec says otherwise; "" where it does not.
	Kept string
}

func (RestartMember) step()       {}
func (StopMember) step()          {}
func (ResizeMember) step()        {}
func (RecreateStatefulSet) step() {}
func (Scale) step()               {}
func (RunHook) step()             {}
func (MakeVolumes) step()         {}
func (StartRestore) step()        {}
func (FinishRestore) step()       {}
func (HoldMember) step()          {}
func (Finalize) step()            {}

func (s RestartMember) String() string     { return "restart " + s.Member.Name }
func (s StopMember) String() string        { return "stop " + s.Member.Name }
func (s ResizeMember) String() string      { return "resize " + s.Member.Name }
func (RecreateStatefulSet) String() string { return "delete the StatefulSet and leave its pods" }
func (s Scale) String() string             { return fmt.Sprintf("scale in to %d", s.To) }
func (s RunHook) String() string {
	return fmt.Sprintf("start deletion hook %q as %s", s.Hook, s.Object)
}
func (s HoldMember) String() string   { return "hold " + s.Member.Name }
func (s MakeVolumes) String() string  { return "make " + describe(s.Claims) }
func (s StartRestore) String() string { return "restore " + s.From + ", start " + describe(s.Jobs) }
func (s FinishRestore) String() string {
	return fmt.Sprintf("mark %d volumes as restored from %s", len(s.Volumes), s.From)
}
func (Finalize) String() string { return "take off the finalizer" }
