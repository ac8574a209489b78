/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/kinds"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// reconcilers are those of the operator, by the kind of their objects.
func reconcilers(base kit.Base, s kinds.Needs) map[string]kit.Reconciler {
	found := map[string]kit.Reconciler{}
	for _, r := range kinds.All(base, s) {
		found[KindOf(r.Controller().For)] = r
	}
	return found
}

// Controllers are those of the operator, by the kind of their objects.
func Controllers(s *store.Store, written map[string]*kit.Writes) map[string]kit.Controller {
	found := map[string]kit.Controller{}
	for kind, r := range reconcilers(kit.Base{Cached: lists{store: s}}, kinds.Needs{Nodes: true}) {
		r.Common().Writes = written[kind]
		found[kind] = r.Controller()
	}
	return found
}

// storeless are the controllers, as far as they need no store.
var storeless = Controllers(nil, nil)

// KindOf is the kind of a typed object.
func KindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}

// nounOf is the kind of an object of the operator's kinds in short, as in their labels: backup of a DatabaseBackup.
func nounOf(object client.Object) string {
	return strings.ToLower(strings.TrimPrefix(KindOf(object), "Database"))
}

// isReconciled reports whether an object is of a kind that the operator reconciles.
func isReconciled(object client.Object) bool {
	c, found := storeless[KindOf(object)]
	return found && reflect.TypeOf(c.For) == reflect.TypeOf(object)
}

// reconciled is an object of each kind that the operator reconciles.
func reconciled() []client.Object {
	var found []client.Object
	for _, c := range storeless {
		found = append(found, c.For)
	}
	return found
}

// lists finds objects of the operator's kinds, also by the indexes of their controllers; watches read nothing else.
type lists struct {
	client.Reader
	store *store.Store
}

// List lists objects.
func (l lists) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var found []runtime.Object
	for _, object := range l.store.Sorted() {
		if KindOf(object)+"List" == reflect.TypeOf(list).Elem().Name() && selects(options, object) {
			found = append(found, object.DeepCopyObject())
		}
	}
	return meta.SetList(list, found)
}

// selects reports whether an index selects an object, if the options name one.
func selects(options []client.ListOption, object client.Object) bool {
	fields := (&client.ListOptions{}).ApplyOptions(options).FieldSelector
	if fields == nil {
		return true
	}
	by := fields.Requirements()[0]
	for _, c := range storeless {
		for _, index := range c.Indexes {
			if index.Name == by.Field && reflect.TypeOf(index.Kind) == reflect.TypeOf(object) {
				return slices.Contains(index.Value(object), by.Value)
			}
		}
	}
	return false
}
