/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Verb is an operation that consists of data only: the decision has what is sent, and package execute sends it. One operation
// differs from another one in the data.
//
//sumtype:decl
type Verb interface {
	Operation
	verb()
	work() Work
}

// Work is the common part of verbs.
type Work struct {
	Is Properties
	// Text describes the operation for messages.
	Text string
	// Event is the event about the success; none without a Reason. Without a Note, it has the purpose of the pass.
	Event Event
	// Listed separates the objects that follow the note of the event; "" if the note is complete. With it, the event names the objects
	// for which the operation has succeeded, even if it has failed for others.
	Listed string
	// Stops is the pod of the member that stops because of the operation; "" for none.
	Stops string
	// Decided is true if not the spec asks for the operation, but the operator has decided it: see RefusedDecisionError.
	Decided bool
	// Remedy is what the user can do if the operation fails, as the end of the message; "" for nothing.
	Remedy string
}

// Properties define when the operation may be executed.
func (w Work) Properties() Properties { return w.Is }

func (w Work) String() string { return w.Text }

func (w Work) work() Work { return w }

func (Create) verb()    {}
func (Apply) verb()     {}
func (Change) verb()    {}
func (Delete) verb()    {}
func (Resize) verb()    {}
func (Recreate) verb()  {}
func (Finalizer) verb() {}
func (Record) verb()    {}

// Create creates objects that did not exist at the decision. An object of that name is an error.
type Create struct {
	Work
	Objects []objects.Child
	// Timed objects have the time of the operator's clock at their creation: see jobs.Job.EndedFor.
	Timed bool
	// Instead is executed if the namespace is terminating, so that no object can be created; nil for nothing.
	Instead Verb
}

// Change patches objects.
type Change struct {
	Work
	Patches []Patch
}

// Patch is a change of an object, which must have the resourceVersion of Before. Only the fields that differ are sent.
type Patch struct {
	Before, After Object
	// Text names the object, and the change unless the operation does.
	Text string
}

func (p Patch) String() string { return p.Text }

// Object is an object of the API server.
type Object interface {
	metav1.Object
	runtime.Object
}

// Delete deletes objects.
type Delete struct {
	Work
	Objects []Removal
	// Propagation is what happens to the dependents. By default, a Job is deleted after its pods: once it no longer exists, none of them runs.
	Propagation metav1.DeletionPropagation
	// Ordered is true if no object is deleted before the ones that precede it.
	Ordered bool
	// Hold is true if the objects are pods that get the operator's finalizer first: until it is removed, no controller creates them again.
	Hold bool
}

// Resize changes the resources of the running database container of a pod to those of a revision. If the API server refuses that, the
// revision is recorded on the pod, and the next pass decides about a restart.
type Resize struct {
	Work
	Pod       Target
	Resources corev1.ResourceRequirements
	Revision  string
}

// Recreate deletes a StatefulSet and orphans its pods. Another pass creates it again.
type Recreate struct {
	Work
	StatefulSet Target
	// Revision is the ControllerRevision that keeps the template; "" if it is unknown. RenderedFrom are the inputs of the template, which
	// the revision gets as an annotation.
	Revision, RenderedFrom string
}

// Finalizer adds the operator's finalizer to the object of the pass or to pods, or removes it. It does not touch a pod that has been
// replaced since the decision.
type Finalizer struct {
	Work
	// Own is true for the object of the pass, which may no longer exist after the finalizer is removed.
	Own    bool
	Pods   []Target
	Remove bool
}

// Record records in the status of the cluster what the operator has done, or is about to do, and cannot observe. The status of the pass
// has it, so an action that needs the record starts in a later pass. Request or Configuration is set.
type Record struct {
	Work
	Request       *dbv1.ClusterRequestStatus
	Configuration *dbv1.ClusterConfigurationStatus
	Bootstrap     *dbv1.ClusterBootstrapStatus
}

// OnEach calls a function for each element, and returns the elements for which it succeeded.
func OnEach[T any](all []T, do func(T) error) (done []T, err error) {
	for _, one := range all {
		failed := do(one)
		if failed == nil {
			done = append(done, one)
		}
		err = errors.Join(err, failed)
	}
	return done, err
}
