/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/testing/backups"
)

func TestABackupRecordsTheStopOfTheMembersOnlyIfNoneCanRun(t *testing.T) {
	const fence = "set/3"
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *appsv1.StatefulSet) (pod *corev1.Pod)
		want   string
	}{
		"no member exists, and none is created": {func(*dbv1.DatabaseCluster, *appsv1.StatefulSet) *corev1.Pod { return nil }, fence},
		"the cluster is not being deleted": {func(c *dbv1.DatabaseCluster, _ *appsv1.StatefulSet) *corev1.Pod {
			c.DeletionTimestamp, c.Finalizers = nil, nil
			return nil
		}, ""},
		"the StatefulSet creates members": {func(_ *dbv1.DatabaseCluster, s *appsv1.StatefulSet) *corev1.Pod {
			*s.Spec.Replicas = 1
			return nil
		}, ""},
		"its controller has not seen that it is to create none": {func(_ *dbv1.DatabaseCluster, s *appsv1.StatefulSet) *corev1.Pod {
			s.Status.ObservedGeneration = 2
			return nil
		}, ""},
		"it is of another owner": {func(_ *dbv1.DatabaseCluster, s *appsv1.StatefulSet) *corev1.Pod {
			s.OwnerReferences = nil
			return nil
		}, ""},
		"a member's pod of the previous cluster exists": {func(*dbv1.DatabaseCluster, *appsv1.StatefulSet) *corev1.Pod {
			return podOfMember("earlier")
		}, ""},
		"one exists that has ended": {func(*dbv1.DatabaseCluster, *appsv1.StatefulSet) *corev1.Pod {
			pod := podOfMember("earlier")
			pod.Status.Phase = corev1.PodSucceeded
			return pod
		}, fence},
	} {
		t.Run(name, func(t *testing.T) {
			objects := slices.DeleteFunc(world(), func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "orders-") })
			cluster := objects[0].(*dbv1.DatabaseCluster)
			cluster.DeletionTimestamp, cluster.Finalizers = &metav1.Time{Time: backups.Moment}, []string{dbv1.Finalizer}
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "set", Generation: 3}}
			set.OwnerReferences = []metav1.OwnerReference{{UID: cluster.UID, Controller: new(true)}}
			set.Spec.Replicas, set.Status.ObservedGeneration = new(int32(0)), 3
			if pod := c.change(cluster, set); pod != nil {
				objects = append(objects, pod)
			}
			s := newServer(t, append(objects, set, backups.Asked())...)
			if observed := s.observed(t, backups.Asked(), true); observed.Fence != c.want {
				t.Errorf("fence %q, want %q", observed.Fence, c.want)
			}
		})
	}
}

// podOfMember is a pod with the labels of a member, of the cluster with that UID.
func podOfMember(cluster string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-0", Labels: map[string]string{
		dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: "orders", dbv1.LabelComponent: dbv1.ComponentDatabase, dbv1.LabelClusterUID: cluster,
	}}}
}

func TestTheImageOfABackupIsThatOfTheMembers(t *testing.T) {
	const ofTheSpec, ofTheSet, ofAMember = "example.test/ledger:1", "example.test/ledger:0", "example.test/ledger:00"
	for name, c := range map[string]struct {
		runs, deleting bool
		want, next     string
	}{
		"a member runs":                           {true, false, ofAMember, ""},
		"a member runs, the cluster is deleted":   {true, true, ofAMember, ""},
		"none runs":                               {false, false, ofTheSet, ofTheSet},
		"none will, since the cluster is deleted": {false, true, ofTheSpec, ofTheSet},
	} {
		objects := slices.DeleteFunc(world(), func(o client.Object) bool { _, is := o.(*corev1.Pod); return is })
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "set"}}
		set.OwnerReferences = []metav1.OwnerReference{{UID: objects[0].GetUID(), Controller: new(true)}}
		set.Spec.Template.Spec.Containers = []corev1.Container{{Name: naming.Container, Image: ofTheSet}}
		if cluster, is := objects[0].(*dbv1.DatabaseCluster); is && c.deleting {
			cluster.DeletionTimestamp, cluster.Finalizers = new(metav1.Now()), []string{dbv1.Finalizer}
		}
		objects = append(objects, set, backups.Asked())
		if c.runs {
			member := podOfMember(string(objects[0].GetUID()))
			member.Spec.Containers = []corev1.Container{{Name: naming.Container, Image: ofAMember}}
			objects = append(objects, member)
		}
		s := newServer(t, objects...)
		if observed := s.observed(t, backups.Asked(), true); observed.Cluster.Spec.Image != c.want || observed.NextImage != c.next {
			t.Errorf("%s: the images are %q and %q, not %q and %q", name, observed.Cluster.Spec.Image, observed.NextImage, c.want, c.next)
		}
	}
}
