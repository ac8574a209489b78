/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// OnCluster is an operation of the plan of a DatabaseCluster: a Verb, or one of Lifecycle.
//
//sumtype:decl
type OnCluster interface {
	Operation
	onCluster()
}

// Lifecycle is an operation that begins or ends the life of a cluster: AddFinalizer, RunHook or Finalize.
//
//sumtype:decl
type Lifecycle interface {
	OnCluster
	lifecycle()
}

type ofLifecycle struct{}

func (ofLifecycle) onCluster() {}
func (ofLifecycle) lifecycle() {}

// AddFinalizer adds the operator's finalizer to the cluster, before any object is created. A cluster without a hook gets it, too: a hook, a
// volume policy or an agreement may be added a moment before the deletion, and without the finalizer no pass would see the cluster again.
type AddFinalizer struct {
	ofLifecycle
	first
}

// RunHook starts a deletion hook.
type RunHook struct {
	ofLifecycle
	lastInDeletion
	Hook string
	// Object is the Job or DatabaseBackup of the hook.
	Object objects.Child
}

// Finalize removes the operator's finalizer from the cluster. The cluster may no longer exist after that.
type Finalize struct {
	ofLifecycle
	lastInDeletion
	// Kept is the reason why volumes are retained against the spec; "" if none are.
	Kept string
}

func (AddFinalizer) String() string { return "add the finalizer" }
func (r RunHook) String() string {
	return fmt.Sprintf("start deletion hook %q as %s", r.Hook, r.Object)
}
func (Finalize) String() string { return "remove the finalizer" }
