/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// nodes simulates storage, scheduler and kubelets. It binds a claim immediately, and starts a pod immediately when its
// claims are bound.
type nodes struct {
	clients kubernetes.Interface
	pods    corev1listers.PodNamespaceLister
	claims  corev1listers.PersistentVolumeClaimNamespaceLister
	queue   workqueue.TypedInterface[string] // names of pods
}

func playNodes(ctx context.Context, clients kubernetes.Interface, namespace string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	pods, claims := factory.Core().V1().Pods(), factory.Core().V1().PersistentVolumeClaims()
	n := &nodes{
		clients: clients,
		pods:    pods.Lister().Pods(namespace),
		claims:  claims.Lister().PersistentVolumeClaims(namespace),
		queue:   workqueue.NewTyped[string](),
	}
	if _, err := pods.Informer().AddEventHandler(n.enqueue("")); err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	if _, err := claims.Informer().AddEventHandler(n.enqueue(naming.DataVolume + "-")); err != nil {
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

// enqueue adds the pod of an object, whose name may have a prefix.
func (n *nodes) enqueue(prefix string) cache.ResourceEventHandler {
	add := func(object any) {
		if named, ok := object.(metav1.Object); ok {
			n.queue.Add(strings.TrimPrefix(named.GetName(), prefix))
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, after any) { add(after) }}
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
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim, err := n.claims.Get(source.ClaimName)
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
