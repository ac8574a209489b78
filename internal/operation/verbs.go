/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Verb is an operation that consists of data only: the decision has what is sent, and package execute sends it. One operation
// differs from another one in the data.
//
//sumtype:decl
type Verb interface {
	Operation
	verb()
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
}

// Properties define when the operation may be executed.
func (w Work) Properties() Properties { return w.Is }

func (w Work) String() string { return w.Text }

func (Create) verb()   {}
func (Apply) verb()    {}
func (Change) verb()   {}
func (Delete) verb()   {}
func (Recreate) verb() {}

// Create creates objects that did not exist at the decision. An object of that name is an error.
type Create struct {
	Work
	Objects []objects.Child
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
}

// Recreate deletes a StatefulSet and orphans its pods. Another pass creates it again.
type Recreate struct {
	Work
	StatefulSet Target
	// Revision is the ControllerRevision that keeps the template; "" if it is unknown. RenderedFrom are the inputs of the template, which
	// the revision gets as an annotation.
	Revision, RenderedFrom string
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
