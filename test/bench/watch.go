/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// members is the number of members of a cluster, and more that after phase scale_up.
const (
	members = "3"
	more    = "5"
)

// fields is the field manager of the benchmark.
const fields = "bench"

// newLoad watches the clusters of a contestant.
func newLoad(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, d description, patience time.Duration) (*load, error) {
	l := &load{
		description: d, namespace: "bench-" + d.Name, client: client, patience: patience, clusters: map[string]*state{},
		owners: map[string]string{},
	}
	object, err := l.values("").object(d.Resource)
	if err != nil {
		return nil, err
	}
	cluster := &unstructured.Unstructured{Object: object}
	if l.resource, err = resourceOf(mapper, cluster.GetAPIVersion(), cluster.GetKind()); err != nil {
		return nil, err
	}
	if d.Drift.Kind != "" {
		if l.drifting, err = resourceOf(mapper, d.Drift.APIVersion, d.Drift.Kind); err != nil {
			return nil, err
		}
	}
	return l, l.watch(ctx, l.resource, l.sawCluster)
}

func resourceOf(mapper meta.RESTMapper, version, name string) (schema.GroupVersionResource, error) {
	kind := schema.FromAPIVersionAndKind(version, name)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("find the resource of %s: %w", name, err)
	}
	return mapping.Resource, nil
}

// values are the placeholders of a cluster.
func (l *load) values(name string) values {
	return values{inName: name, inNamespace: l.namespace, inReplicas: members, inRevision: "0"}
}

// watch calls a function for every event of a resource until the context ends. It returns after the first events.
func (l *load) watch(ctx context.Context, resource schema.GroupVersionResource, saw func(*unstructured.Unstructured, bool)) error {
	informer := dynamicinformer.NewFilteredDynamicInformer(l.client, resource, l.namespace, 0, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(trim); err != nil {
		return fmt.Errorf("watch %s: %w", resource.Resource, err)
	}
	see := func(object any, exists bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		if object, ok := object.(*unstructured.Unstructured); ok {
			saw(object, exists)
		}
	}
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { see(object, true) },
		UpdateFunc: func(_, object any) { see(object, true) },
		DeleteFunc: func(object any) { see(object, false) },
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", resource.Resource, err)
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), registered.HasSynced) {
		return errors.New("the watch of " + resource.Resource + " has not started")
	}
	return nil
}

// trim removes what only costs memory.
func trim(object any) (any, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
		if u.GetKind() == "Pod" {
			unstructured.RemoveNestedField(u.Object, "spec")
		}
	}
	return object, nil
}

func (l *load) sawCluster(object *unstructured.Unstructured, exists bool) {
	l.see(object.GetName(), func(s *state) {
		s.changed = s.exists
		s.exists = exists
		s.ready = isTrue(object, l.Ready)
		s.conditions = conditionsOf(object)
	})
}

func (l *load) sawPod(object *unstructured.Unstructured, exists bool) {
	name := object.GetLabels()[l.Label]
	if name == "" {
		return
	}
	l.see(name, func(s *state) {
		s.pods[object.GetUID()] = isTrue(object, "Ready") && object.GetDeletionTimestamp() == nil
		if !exists {
			delete(s.pods, object.GetUID())
		}
	})
}

// sawDrift compares an object with the change.
func (l *load) sawDrift(object *unstructured.Unstructured, exists bool) {
	l.mutex.Lock()
	name, known := l.owners[object.GetName()]
	l.mutex.Unlock()
	patch, err := l.values(name).object(l.Drift.Patch)
	if !known || err != nil {
		return
	}
	l.see(name, func(s *state) {
		before := s.drifted
		s.drifted = !exists || contains(object.Object, patch)
		if before && !s.drifted {
			s.repairs++
		}
	})
}

// contains reports whether a merge patch would not change an object.
func contains(object, patch any) bool {
	parts, is := patch.(map[string]any)
	if !is {
		return reflect.DeepEqual(object, patch)
	}
	whole, is := object.(map[string]any)
	for name, part := range parts {
		if !is || !contains(whole[name], part) {
			return false
		}
	}
	return true
}

// conditionsOf returns the conditions of an object, without a copy.
func conditionsOf(object *unstructured.Unstructured) []any {
	found, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "conditions") // a status without conditions is not ready
	conditions, _ := found.([]any)
	return conditions
}

// isTrue reports whether a condition is True, for the current generation if the condition has one.
func isTrue(object *unstructured.Unstructured, condition string) bool {
	for _, each := range conditionsOf(object) {
		c, ok := each.(map[string]any)
		if !ok || c["type"] != condition {
			continue
		}
		generation, has := c["observedGeneration"].(int64)
		return c["status"] == "True" && (!has || generation >= object.GetGeneration())
	}
	return false
}

// allReady reports whether a cluster is ready and has this number of ready pods, without the given ones.
func allReady(replicas string, without map[types.UID]bool) (func(*state) bool, error) {
	number, err := strconv.Atoi(replicas)
	return func(s *state) bool {
		for uid, ready := range s.pods {
			if _, old := without[uid]; old || !ready {
				return false
			}
		}
		return len(s.pods) == number && isReady(s)
	}, err
}
