/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// nodes simulates storage, scheduler and kubelets. It binds a claim immediately, and starts a pod immediately when its
// claims are bound.
type nodes struct {
	clients kubernetes.Interface
	pods    corev1listers.PodNamespaceLister
	claims  corev1listers.PersistentVolumeClaimNamespaceLister
	queue   workqueue.TypedInterface[string] // names of pods
}

// byClaim is the index of pods by the names of their claims.
const byClaim = "claim"

func playNodes(ctx context.Context, clients kubernetes.Interface, namespace string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	pods, claims := factory.Core().V1().Pods(), factory.Core().V1().PersistentVolumeClaims()
	n := &nodes{
		clients: clients,
		pods:    pods.Lister().Pods(namespace),
		claims:  claims.Lister().PersistentVolumeClaims(namespace),
		queue:   workqueue.NewTyped[string](),
	}
	if err := pods.Informer().AddIndexers(cache.Indexers{byClaim: claimsOf}); err != nil {
		return fmt.Errorf("index pods: %w", err)
	}
	if _, err := pods.Informer().AddEventHandler(enqueue(n.queue.Add)); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	users := func(claim string) {
		pods, _ := pods.Informer().GetIndexer().IndexKeys(byClaim, claim) // the index exists
		for _, pod := range pods {
			_, name, _ := cache.SplitMetaNamespaceKey(pod) // the informer made it
			n.queue.Add(name)
		}
	}
	if _, err := claims.Informer().AddEventHandler(enqueue(users)); err != nil {
		return fmt.Errorf("watch claims: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, n.queue.ShutDown)
	for range 4 {
		go n.work(ctx)
	}
	return nil
}

// claimsOf returns the names of the claims of a pod.
func claimsOf(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	var names []string
	for i := range pod.Spec.Volumes {
		if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil {
			names = append(names, source.ClaimName)
		}
	}
	return names, nil
}

// enqueue passes the name of an object after each event to a function.
func enqueue(add func(string)) cache.ResourceEventHandler {
	named := func(object any) {
		if named, ok := object.(metav1.Object); ok {
			add(named.GetName())
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: named, UpdateFunc: func(_, after any) { named(after) }}
}

func (n *nodes) work(ctx context.Context) {
	for {
		name, ended := n.queue.Get()
		if ended {
			return
		}
		if err := n.look(ctx, name); err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			say("pod %s cannot be started: %v", name, err)
		}
		n.queue.Done(name)
	}
}

// look binds the claims of a pod, or starts the pod if they are bound.
func (n *nodes) look(ctx context.Context, name string) error {
	pod, err := n.pods.Get(name)
	if err != nil || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
		return err
	}
	bound := true
	names, err := claimsOf(pod)
	if err != nil {
		return err
	}
	for _, name := range names {
		claim, err := n.claims.Get(name)
		if err != nil {
			return err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			bound = false
			if err := n.bind(ctx, claim); err != nil {
				return err
			}
		}
	}
	if !bound {
		return nil // the change of the claim triggers the next look
	}
	return n.start(ctx, pod)
}

// bind sets a claim to Bound. The volume does not exist. Only the controller that binds claims would notice, and it
// does not run.
func (n *nodes) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	return setStatus(ctx, n.clients.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch, claim.Name, corev1.PersistentVolumeClaimStatus{
		Phase: corev1.ClaimBound, AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
	})
}

func (n *nodes) start(ctx context.Context, pod *corev1.Pod) error {
	now, started := metav1.Now(), true
	status := corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}},
	}
	for i := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: pod.Spec.Containers[i].Name, Image: pod.Spec.Containers[i].Image, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return setStatus(ctx, n.clients.CoreV1().Pods(pod.Namespace).Patch, pod.Name, status)
}

// setStatus sets fields of an object's status by the Patch of its client.
func setStatus[Object any](
	ctx context.Context, patch func(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (Object, error),
	name string, status any,
) error {
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}
