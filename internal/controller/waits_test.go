/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

func changedPod(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{}
	change(pod)
	return pod
}

func TestOnlyTheProgressOfAStartWaitsLong(t *testing.T) {
	volume := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	grown := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	claim := func(capacity corev1.ResourceList) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Capacity: capacity}}
	}
	set := func(generation, observed int64) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: generation}, Status: appsv1.StatefulSetStatus{ObservedGeneration: observed}}
	}
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	unscheduled := []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	refused := corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}
	for name, c := range map[string]struct {
		before, after client.Object
		want          time.Duration
	}{
		"a new pod":            {nil, &corev1.Pod{}, kit.StatusDelay},
		"a pod with a node":    {&corev1.Pod{}, changedPod(func(p *corev1.Pod) { p.Spec.NodeName = "a" }), kit.StatusDelay},
		"a ready pod":          {&corev1.Pod{}, changedPod(func(p *corev1.Pod) { p.Status.Conditions = ready }), readyDelay},
		"a pod without a node": {&corev1.Pod{}, changedPod(func(p *corev1.Pod) { p.Status.Conditions = unscheduled }), kit.StatusDelay},
		"a pod that fails":     {changedPod(func(p *corev1.Pod) { p.Status.Conditions = ready }), &corev1.Pod{}, kit.BurstDelay},
		"a resize of a ready pod": {
			changedPod(func(p *corev1.Pod) { p.Status.Conditions = ready }), changedPod(func(p *corev1.Pod) { p.Status.Conditions = slices.Concat(ready, []corev1.PodCondition{refused}) }), kit.BurstDelay,
		},
		"a pod with a role":   {&corev1.Pod{}, changedPod(func(p *corev1.Pod) { p.Labels = map[string]string{"role": "primary"} }), kit.BurstDelay},
		"a terminating pod":   {&corev1.Pod{}, changedPod(func(p *corev1.Pod) { p.DeletionTimestamp = &moment }), kit.BurstDelay},
		"a deleted pod":       {&corev1.Pod{}, nil, kit.BurstDelay},
		"a new claim":         {nil, claim(nil), kit.StatusDelay},
		"a claim to fill":     {nil, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: state.Contents{Fill: state.Filling, From: "restore"}.Annotations()}}, kit.BurstDelay},
		"a bound claim":       {claim(nil), claim(volume), kit.StatusDelay},
		"a grown claim":       {claim(volume), claim(grown), kit.BurstDelay},
		"a first observation": {set(1, 0), set(1, 1), kit.StatusDelay},
		"a new template":      {set(1, 1), set(2, 1), kit.BurstDelay},
		"its observation":     {set(2, 1), set(2, 2), kit.BurstDelay},
	} {
		if got := burstDelay(c.before, c.after); got != c.want {
			t.Errorf("%s waits %s, want %s", name, got, c.want)
		}
	}
	if subject.RepairDelay(&corev1.Service{}, &corev1.Service{}) != 0 || subject.RepairDelay(&corev1.Service{}, nil) != 0 || subject.RepairDelay(nil, &corev1.Service{}) != kit.StatusDelay {
		t.Error("a Service that has to be repaired waits, or a new one does not")
	}
}

func TestOnlyTheFinalizerOfANewClusterNeedsNoPassAtOnce(t *testing.T) {
	cluster := func(change func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
		c := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Generation: 1, Finalizers: []string{dbv1.Finalizer}}}
		change(c)
		return c
	}
	created, moment := cluster(func(c *dbv1.DatabaseCluster) { c.Finalizers = nil }), metav1.Unix(1, 0)
	for name, c := range map[string]struct {
		before, after client.Object
		want          time.Duration
	}{
		"creation":                    {nil, created, 0},
		"the finalizer":               {created, cluster(func(*dbv1.DatabaseCluster) {}), kit.StatusDelay},
		"the finalizer and a spec":    {created, cluster(func(c *dbv1.DatabaseCluster) { c.Generation = 2 }), 0},
		"the finalizer and a request": {created, cluster(func(c *dbv1.DatabaseCluster) { c.Annotations = map[string]string{dbv1.AnnotationRestart: "1"} }), 0},
		"the finalizer and the end":   {created, cluster(func(c *dbv1.DatabaseCluster) { c.DeletionTimestamp = &moment }), 0},
		"the lost finalizer":          {cluster(func(*dbv1.DatabaseCluster) {}), created, 0},
		"another change":              {created, created, 0},
		"deletion":                    {created, nil, 0},
	} {
		if got := creationDelay(c.before, c.after); got != c.want {
			t.Errorf("%s waits %s, want %s", name, got, c.want)
		}
	}
}
