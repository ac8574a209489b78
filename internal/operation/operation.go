/*
SPDX-License-Identifier: Apache-2.0
*/

// Package operation describes the operations of a pass as values. A plan is an ordered list of operations. The properties of an
// operation define when it may be executed and what its failure prevents.
package operation

import (
	"fmt"
	"slices"
	"strings"
)

// Operation is one action of a pass.
type Operation interface {
	// Properties define when the operation may be executed.
	Properties() Properties
	// String describes the operation for messages.
	String() string
}

// Properties of an operation. The zero value is an operation that a live cluster needs all the time and that is safe on a stale
// cache. Its failure prevents the disruptive operation of the same plan.
type Properties struct {
	// First operations prepare the others: if one fails, no later operation is executed.
	First bool
	// Applies operations let an object match the spec. No phase starts before they are done.
	Applies bool
	// Disruptive operations stop, start or replace objects that members or their data depend on. A plan has at most one, at its
	// end. It is executed only if all operations before it have succeeded, except independent ones.
	Disruptive bool
	// The failure of an independent operation prevents no other.
	Independent bool
	// The failure of an optional operation is only in the report of its subject: the object is ready without it.
	Optional bool
	// LiveRead operations must not be decided from a stale cache. Before the operator executes one, the pass reads everything again
	// from the API server and decides again.
	LiveRead bool
	// AlwaysLive operations need the live read in the pass that adds the finalizer, too: the object may be of a previous cluster.
	AlwaysLive bool
	// WhilePaused operations are executed although spec.paused is true.
	WhilePaused bool
	// WhileDeleting operations belong to the deletion of the object. After its deletionTimestamp is set, only these are executed.
	WhileDeleting bool
	// Disturbs is true if members stop, restart or change their roles. At most one action at a time disturbs the members of a cluster
	// that is not being deleted.
	Disturbs bool
}

// The usual properties.
var (
	// First prepares the others. It is safe on a stale cache, because its write has a precondition on the resourceVersion.
	First = Properties{First: true}
	// Last is the disruptive operation of a plan.
	Last = Properties{Disruptive: true, LiveRead: true}
	// LastInDeletion is a disruptive operation that a deletion needs, too.
	LastInDeletion = Properties{Disruptive: true, LiveRead: true, WhileDeleting: true}
	// Disturbance is a disruptive operation that disturbs members.
	Disturbance = Properties{Disruptive: true, LiveRead: true, Disturbs: true}
	// DisturbanceInDeletion is one that a deletion needs, too.
	DisturbanceInDeletion = Properties{Disruptive: true, LiveRead: true, WhileDeleting: true, Disturbs: true}
	// Cleanup deletes what the operator no longer needs.
	Cleanup = Properties{LiveRead: true, WhileDeleting: true}
	// Aside prevents no other operation, and none prevents it.
	Aside = Properties{LiveRead: true, Independent: true}
)

// List is a plan's operations in the order of execution.
type List []Operation

// Need reports whether any operation has a property.
func (l List) Need(property func(Properties) bool) bool {
	return slices.ContainsFunc(l, func(o Operation) bool { return property(o.Properties()) })
}

// Only returns the operations that have a property, and whether there are others.
func (l List) Only(property func(Properties) bool) (kept List, others bool) {
	for _, o := range l {
		if property(o.Properties()) {
			kept = append(kept, o)
		}
	}
	return kept, len(kept) < len(l)
}

// Independently returns the operations such that none prevents another one of the pass, and none is prevented.
func (l List) Independently() List { return l.with(Aside) }

// Optionally returns the operations such that only the report of their subject has their failures.
func (l List) Optionally() List {
	optional := Aside
	optional.Optional = true
	return l.with(optional)
}

// with returns the operations with these properties.
func (l List) with(is Properties) List {
	all := make(List, 0, len(l))
	for _, one := range l {
		switch o := one.(type) {
		case Create:
			o.Is = is
			all = append(all, o)
		case Change:
			o.Is = is
			all = append(all, o)
		case Delete:
			o.Is = is
			all = append(all, o)
		default:
			all = append(all, o)
		}
	}
	return all
}

// Find returns the first operation of a type.
func Find[T Operation](l List) (found T, ok bool) {
	for _, o := range l {
		if found, ok = o.(T); ok {
			return found, true
		}
	}
	return found, false
}

// Stops is the pod of the member that stops because of an operation; "" for none.
func (l List) Stops() string { return l.first(func(w Work) string { return w.Stops }) }

// Remedy is what the user can do if an operation fails; "" for nothing.
func (l List) Remedy() string { return l.first(func(w Work) string { return w.Remedy }) }

func (l List) first(text func(Work) string) string {
	for _, o := range l {
		if verb, is := o.(Verb); is && text(verb.work()) != "" {
			return text(verb.work())
		}
	}
	return ""
}

// Begins reports whether the operator's finalizer is added to the object of the pass, Ends whether it is removed.
func (l List) Begins() bool { return l.finalizer(false) }

// Ends is the opposite of Begins.
func (l List) Ends() bool { return l.finalizer(true) }

func (l List) finalizer(remove bool) bool {
	return slices.ContainsFunc(l, func(o Operation) bool {
		f, is := o.(Finalizer)
		return is && f.Own && f.Remove == remove
	})
}

// Describe lists operations or objects for messages.
func Describe[T fmt.Stringer](all []T) string {
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ", ")
}

// LiveRead is the property of that name, for Need and Only.
func LiveRead(p Properties) bool { return p.LiveRead }

// WhilePaused is the property of that name.
func WhilePaused(p Properties) bool { return p.WhilePaused }

// WhileDeleting is the property of that name.
func WhileDeleting(p Properties) bool { return p.WhileDeleting }

// Disruptive is the property of that name.
func Disruptive(p Properties) bool { return p.Disruptive }

// Disturbs is the property of that name.
func Disturbs(p Properties) bool { return p.Disturbs }
