/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

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
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
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

// Watches are those of the Jobs and their pods.
func (l Labeled) Watches(b *Base) []Watch {
	ofJob := l.MapFunc(b)
	return []Watch{
		{Object: &batchv1.Job{}, When: Awaited(ofJob, Changed(JobFacts)), MapFunc: ofJob},
		{Object: &corev1.Pod{}, When: Awaited(ofJob, Changed(PodFacts)), MapFunc: ofJob},
	}
}

// JobFacts are what Observe reads of a Job.
func JobFacts(job *batchv1.Job) any { return []any{jobs.Of(job, nil).Facts(), job.Labels} }

// PodFacts are what Observe reads of its pod.
func PodFacts(pod *corev1.Pod) any {
	return []any{jobs.AttemptOf(pod), state.BystanderOf(pod).Ended, pod.Labels}
}

// Observe reads the Jobs of the object of the pass by their names, and all pods of its Jobs: a pod may outlive its Job.
func (l Labeled) Observe(ctx context.Context, from *Reading, logs jobs.Logs, at time.Time) ([]jobs.Job, []corev1.Pod) {
	uid := string(from.Object.GetUID())
	labels := client.MatchingLabels{dbv1.LabelManagedBy: dbv1.LabelManagedByValue, l.Label: uid}
	list, pods := &batchv1.JobList{}, &corev1.PodList{}
	from.List(ctx, list, l.Label, uid, labels)
	from.List(ctx, pods, l.Label, uid, labels)
	if from.Err != nil {
		return nil, nil
	}
	all := make([]jobs.Job, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, jobs.Observe(ctx, logs, &list.Items[i], pods.Items, at))
	}
	slices.SortFunc(all, func(a, b jobs.Job) int { return cmp.Compare(a.Name, b.Name) })
	return all, pods.Items
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
