/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Labeled are the Jobs and pods of one kind: a label has the UID of their object, see OfAnotherKind. A Job that a deletion still needs has
// no owner reference.
type Labeled struct {
	Label string
	Kind  client.Object
	List  func() client.ObjectList
}

// Indexes are those of the label, and of the UIDs of the kind. All have the name of the label.
func (l Labeled) Indexes() []Index {
	label := func(object client.Object) []string { return []string{object.GetLabels()[l.Label]} }
	uid := func(object client.Object) []string { return []string{string(object.GetUID())} }
	return []Index{
		{Kind: &batchv1.Job{}, Name: l.Label, Value: label},
		{Kind: &corev1.Pod{}, Name: l.Label, Value: label},
		{Kind: l.Kind, Name: l.Label, Value: uid},
	}
}

// MapFunc finds the object of a Job or its pod.
func (l Labeled) MapFunc(b *Base) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		uid := object.GetLabels()[l.Label]
		if uid == "" {
			return nil
		}
		return b.Requests(ctx, object, l.List(), nil, client.MatchingFields{l.Label: uid})
	}
}

// Exists reports whether the Job of that name exists. Its labels must identify it as the object's: a Job without them would never be found
// again.
func (l Labeled) Exists(ctx context.Context, b *Base, object client.Object, name string) (bool, error) {
	job := &batchv1.Job{}
	err := b.Live.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for Job %s: %w", name, err)
	case job.Labels[l.Label] != string(object.GetUID()) || job.Labels[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue:
		return false, operation.ForeignError{Kind: "Job", Name: name, For: nameOf(l.Kind)}
	}
	return true, nil
}

// nameOf is the kind of an object without a scheme.
func nameOf(kind client.Object) string { return reflect.TypeOf(kind).Elem().Name() }

// OfAnotherKind reports whether a label identifies an object as one of a kind that has Jobs of its own: its controller watches it. The
// label is named after the kind: database.dbcluster.io/<kind>-uid.
func OfAnotherKind(object client.Object) bool {
	for label, uid := range object.GetLabels() {
		ofKind := strings.HasPrefix(label, dbv1.GroupVersion.Group+"/") && strings.HasSuffix(label, "-uid") && label != dbv1.LabelClusterUID
		if ofKind && uid != "" {
			return true
		}
	}
	return false
}

// Requests are the objects to reconcile after a change of an object in their namespace: those that the cache lists and a function selects;
// nil selects all.
func (b *Base) Requests(ctx context.Context, changed client.Object, list client.ObjectList, selects func(client.Object) bool,
	options ...client.ListOption) []reconcile.Request {
	err := b.Cached.List(ctx, list, append(options, client.InNamespace(changed.GetNamespace()))...)
	var all []reconcile.Request
	if err == nil {
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if object, is := item.(client.Object); is && (selects == nil || selects(object)) {
				all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			return nil
		})
	}
	if err != nil { // the cache fails only while the operator stops
		logf.FromContext(ctx).Error(err, "cannot list the objects that a change concerns", "changed", changed.GetName())
	}
	return all
}
