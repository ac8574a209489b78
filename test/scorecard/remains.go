/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Kinds whose metadata the test lists.
var (
	backups = dbv1.GroupVersion.WithKind("DatabaseBackupList")
	claims  = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList")
	jobs    = batchv1.SchemeGroupVersion.WithKind("JobList")
	// children are garbage-collected with their cluster. Jobs stay for a while, for their logs.
	children = []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("StatefulSetList"),
		corev1.SchemeGroupVersion.WithKind("ServiceList"),
		corev1.SchemeGroupVersion.WithKind("ConfigMapList"),
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudgetList"),
	}
	members = corev1.SchemeGroupVersion.WithKind("PodList")
)

// cleanup is the time limit for removing everything. A terminating pod has 30 seconds.
const cleanup = 25 * time.Second

func (w *world) list(ctx context.Context, kind schema.GroupVersionKind, labels client.MatchingLabels) ([]client.Object, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	if err := w.List(ctx, list, client.InNamespace(w.namespace), labels); err != nil {
		return nil, err
	}
	objects := make([]client.Object, 0, len(list.Items))
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects, nil
}

// of selects the objects that the operator created for a cluster.
func of(cluster string) client.MatchingLabels {
	return client.MatchingLabels{dbv1.LabelInstance: cluster, dbv1.LabelManagedBy: dbv1.LabelManagedByValue}
}

// claims returns the claims of a cluster's members.
func (w *world) claims(ctx context.Context, cluster string) ([]client.Object, error) {
	return w.list(ctx, claims, of(cluster))
}

// children returns the existing objects that must be deleted with a cluster.
func (w *world) children(ctx context.Context, cluster string) (string, error) {
	var there []string
	for _, kind := range append(children, members) {
		labels := of(cluster)
		if kind == members {
			labels[dbv1.LabelComponent] = dbv1.ComponentDatabase
		}
		objects, err := w.list(ctx, kind, labels)
		if err != nil {
			return "", err
		}
		for _, object := range objects {
			there = append(there, strings.TrimSuffix(kind.Kind, "List")+" "+object.GetName())
		}
	}
	if len(there) == 0 {
		return "", nil
	}
	return "there still is " + strings.Join(there, ", "), nil
}

// remove deletes an object by UID, never another object of the same name.
func (w *world) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	return client.IgnoreNotFound(
		w.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// delete deletes an object and waits until it no longer exists.
func (w *world) delete(ctx context.Context, object client.Object) error {
	if err := w.remove(ctx, object); err != nil {
		return err
	}
	return w.await(ctx, "deletion of "+called(object), func(ctx context.Context) (string, error) {
		err := w.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil {
			return described(conditionsOf(object)), nil
		}
		return "", client.IgnoreNotFound(err)
	})
}

// described describes an object that still exists.
func described(conditions []metav1.Condition) string {
	for _, name := range []string{dbv1.ConditionDeletionBlocked, dbv1.ConditionReady} {
		if condition := meta.FindStatusCondition(conditions, name); condition != nil {
			return fmt.Sprintf("it still exists: %s is %s, %s: %s", name, condition.Status, condition.Reason, condition.Message)
		}
	}
	return "it still exists"
}

// clean removes all objects of the test, however far it got.
func (w *world) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanup)
	defer cancel()
	var clusters dbv1.DatabaseClusterList
	if err := w.List(ctx, &clusters, client.InNamespace(w.namespace), client.MatchingLabels{labelRun: w.name}); err != nil {
		return err
	}
	var failed error
	for i := range clusters.Items {
		failed = errors.Join(failed, w.let(ctx, &clusters.Items[i]))
	}
	for _, kind := range []schema.GroupVersionKind{backups, jobs, claims} {
		failed = errors.Join(failed, w.removeAll(ctx, kind))
	}
	secret := &corev1.Secret{ObjectMeta: w.object(w.name)}
	return errors.Join(failed, client.IgnoreNotFound(w.Delete(ctx, secret)))
}

// let deletes a cluster without its hooks.
func (w *world) let(ctx context.Context, cluster *dbv1.DatabaseCluster) error {
	err := w.change(ctx, cluster, func(c *dbv1.DatabaseCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, dbv1.AnnotationSkipDeletionHooks, "true")
		c.Spec.Deletion.Protection = false
	})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return w.delete(ctx, cluster)
}

// removeAll deletes all objects of a kind that this world or its clusters left. Their names start with the world's
// name.
func (w *world) removeAll(ctx context.Context, kind schema.GroupVersionKind) error {
	var failed error
	for _, labels := range []client.MatchingLabels{of(w.name), of(w.again()), {labelRun: w.name}} {
		objects, err := w.list(ctx, kind, labels)
		failed = errors.Join(failed, err)
		for _, object := range objects {
			failed = errors.Join(failed, w.remove(ctx, object))
		}
	}
	return failed
}
