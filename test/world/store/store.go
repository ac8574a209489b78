/*
SPDX-License-Identifier: Apache-2.0
*/

// Package store is the API server of a simulated world: objects in memory, admission, field managers, and a client.
package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store is etcd and the part of the API server behind controller-runtime's fake client. It keeps the objects of a
// world and handles writes like the API server where the fake client does not. It is not safe for concurrent use,
// because a world is sequential.
type Store struct {
	scheme *runtime.Scheme
	// withStatus are objects of the kinds whose status is a subresource.
	withStatus []client.Object
	clock      clock.PassiveClock
	objects    map[id]client.Object
	// Version is the last resourceVersion of all objects.
	Version int64
	// made counts the objects of a kind and name over time.
	made map[string]int
	// Terminating is the namespace that is terminating; "" for none.
	Terminating string
	// resizing reports whether the write uses the subresource pods/resize.
	resizing bool
	// Policy changes objects before they are stored, as mutating policies of others do; nil for none.
	Policy func(before, after client.Object)
	// written are the times of the last writes of ConfigMaps.
	written map[id]time.Time
	// Committed are called for every write that changed something.
	Committed []func(Change)
	// order are the objects by kind and name, as they were at version orderedAt.
	order     []client.Object
	orderedAt int64
}

// tracker is a store as the fake client uses it.
type tracker struct{ *Store }

var _ clientgotesting.ObjectTracker = tracker{}

type id struct {
	schema.GroupResource
	types.NamespacedName
}

// Change is a completed write: before is nil for a creation, after for a removal.
type Change struct{ Before, After client.Object }

// Object is the object after the write, or the removed one.
func (c Change) Object() client.Object {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// New is an empty store. The status of some kinds is a subresource.
func New(clock clock.PassiveClock, withStatus ...client.Object) *Store {
	return &Store{scheme: Scheme, withStatus: withStatus, clock: clock, objects: map[id]client.Object{}, made: map[string]int{},
		written: map[id]time.Time{}}
}

func idOf(resource schema.GroupVersionResource, namespace, name string) id {
	return id{resource.GroupResource(), types.NamespacedName{Namespace: namespace, Name: name}}
}

// Get is part of the tracker.
func (s tracker) Get(resource schema.GroupVersionResource, namespace, name string, _ ...metav1.GetOptions) (runtime.Object, error) {
	object, found := s.objects[idOf(resource, namespace, name)]
	if !found {
		return nil, apierrors.NewNotFound(resource.GroupResource(), name)
	}
	return object.DeepCopyObject(), nil
}

// List is part of the tracker.
func (s tracker) List(resource schema.GroupVersionResource, kind schema.GroupVersionKind, namespace string,
	_ ...metav1.ListOptions) (runtime.Object, error) {
	list, err := s.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	var items []runtime.Object
	for _, object := range s.Sorted() {
		if s.resource(object) == resource.GroupResource() && (namespace == "" || object.GetNamespace() == namespace) {
			items = append(items, object.DeepCopyObject())
		}
	}
	return list, meta.SetList(list, items)
}

// Create is part of the tracker.
func (s tracker) Create(resource schema.GroupVersionResource, object runtime.Object, namespace string,
	options ...metav1.CreateOptions) error {
	at := idOf(resource, namespace, object.(client.Object).GetName())
	if s.objects[at] != nil {
		return apierrors.NewAlreadyExists(at.GroupResource, at.Name)
	}
	if err := s.open(at); err != nil {
		return err
	}
	managed, err := s.manage(nil, object, managerOf(options, func(o metav1.CreateOptions) string { return o.FieldManager }))
	if err != nil {
		return err
	}
	return s.commit(at, managed.(client.Object), object.(client.Object))
}

// open refuses to create objects in a terminating namespace.
func (s *Store) open(at id) error {
	if at.Namespace == "" || at.Namespace != s.Terminating {
		return nil
	}
	err := apierrors.NewForbidden(at.GroupResource, at.Name,
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", at.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	return err
}

// Update is part of the tracker.
func (s tracker) Update(resource schema.GroupVersionResource, object runtime.Object, namespace string,
	options ...metav1.UpdateOptions) error {
	return s.replace(idOf(resource, namespace, object.(client.Object).GetName()), object,
		managerOf(options, func(o metav1.UpdateOptions) string { return o.FieldManager }))
}

// Patch is part of the tracker: the fake client has already merged the patch.
func (s tracker) Patch(resource schema.GroupVersionResource, object runtime.Object, namespace string,
	options ...metav1.PatchOptions) error {
	return s.replace(idOf(resource, namespace, object.(client.Object).GetName()), object,
		managerOf(options, func(o metav1.PatchOptions) string { return o.FieldManager }))
}

func (s *Store) replace(at id, object runtime.Object, manager string) error {
	before := s.objects[at]
	if before == nil {
		return apierrors.NewNotFound(at.GroupResource, at.Name)
	}
	managed, err := s.manage(before, object, manager)
	if err != nil {
		return err
	}
	return s.commit(at, managed.(client.Object), object.(client.Object))
}

// Apply is part of the tracker: server-side apply with the field manager of the API server.
func (s tracker) Apply(resource schema.GroupVersionResource, object runtime.Object, namespace string,
	options ...metav1.PatchOptions) error {
	configuration, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("apply %T: %w", object, err)
	}
	if fields, ok := object.(*unstructured.Unstructured); ok && fields.Object["status"] == nil {
		delete(fields.Object, "status") // the fake client sets it for every kind that had a status before
	}
	at := idOf(resource, namespace, configuration.GetName())
	if live := s.objects[at]; live != nil && configuration.GetUID() != "" && configuration.GetUID() != live.GetUID() {
		return apierrors.NewConflict(at.GroupResource, at.Name, fmt.Errorf("uid mismatch: %s is not %s", configuration.GetUID(), live.GetUID()))
	}
	if s.objects[at] == nil {
		if err := s.open(at); err != nil {
			return err
		}
	}
	force := len(options) > 0 && options[0].Force != nil && *options[0].Force
	manager := managerOf(options, func(o metav1.PatchOptions) string { return o.FieldManager })
	applied, err := s.manageApply(s.objects[at], object, manager, force)
	if err != nil {
		return err
	}
	return s.commit(at, applied.(client.Object))
}

// Delete is part of the tracker: the fake client has already checked the finalizers.
func (s tracker) Delete(resource schema.GroupVersionResource, namespace, name string, _ ...metav1.DeleteOptions) error {
	at := idOf(resource, namespace, name)
	before := s.objects[at]
	if before == nil {
		return apierrors.NewNotFound(at.GroupResource, name)
	}
	delete(s.objects, at)
	s.Version++
	s.notify(Change{Before: before})
	return nil
}

// Add is part of the tracker, and unused: a world starts empty.
func (s tracker) Add(runtime.Object) error { return fmt.Errorf("a world starts empty") }

// Watch is part of the tracker, and unused: the world triggers passes.
func (s tracker) Watch(schema.GroupVersionResource, string, ...metav1.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("a world has no watches")
}

// commit stores an object. It also copies the API server's fields into the answers that a caller sees.
func (s *Store) commit(at id, after client.Object, answers ...client.Object) error {
	before := s.objects[at]
	if s.Policy != nil {
		s.Policy(before, after)
	}
	if err := s.admit(before, after); err != nil {
		return err
	}
	s.Version++
	after.SetResourceVersion(strconv.FormatInt(s.Version, 10))
	s.objects[at] = after.DeepCopyObject().(client.Object)
	s.stamp(at, after)
	for _, answer := range answers {
		answer.SetUID(after.GetUID())
		answer.SetGeneration(after.GetGeneration())
		answer.SetCreationTimestamp(after.GetCreationTimestamp())
		answer.SetDeletionTimestamp(after.GetDeletionTimestamp())
		answer.SetFinalizers(after.GetFinalizers())
		answer.SetResourceVersion(after.GetResourceVersion())
		if s.Policy != nil {
			fill(answer, s.objects[at])
		}
	}
	s.notify(Change{before, s.objects[at]})
	return nil
}

// Touch makes the current state count as another one: time passes, or something outside the API has changed.
func (s *Store) Touch() { s.Version++ }

func (s *Store) notify(c Change) {
	for _, hear := range s.Committed {
		hear(c)
	}
}

// Clone is a copy of the current state without listeners.
func (s *Store) Clone(clock clock.PassiveClock) *Store {
	copied := New(clock, s.withStatus...)
	copied.Version, copied.made = s.Version, maps.Clone(s.made)
	copied.Terminating, copied.Policy = s.Terminating, s.Policy
	maps.Copy(copied.objects, s.objects) // objects are replaced, never changed
	maps.Copy(copied.written, s.written)
	copied.order, copied.orderedAt = s.order, s.orderedAt
	return copied
}

// Sorted returns the objects by kind and name. Most steps of a world read them, so they are sorted once for each
// version.
func (s *Store) Sorted() []client.Object {
	if s.orderedAt != s.Version {
		s.order = slices.SortedFunc(maps.Values(s.objects), func(a, b client.Object) int { return compareText(Ref(a), Ref(b)) })
		s.orderedAt = s.Version
	}
	return s.order
}

func (s *Store) kind(object client.Object) schema.GroupVersionKind {
	kinds, _, err := s.scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	return kinds[0]
}

func (s *Store) resource(object client.Object) schema.GroupResource {
	resource, _ := meta.UnsafeGuessKindToResource(s.kind(object))
	return resource.GroupResource()
}

// The actors of a world write with the four functions below, without a client and without field managers.
