//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const secondImage = "example.test/database:2"

// atOnce lets a rollout continue as soon as a member is ready.
func atOnce(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.MinReadySeconds = new(int32) }

func setSecondImage(c *dbv1.DatabaseCluster) { c.Spec.Image = secondImage }

func annotated(key, value string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, value) }
}

// ready creates a cluster whose members are ready.
func ready(t *testing.T, change func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	t.Helper()
	return started(t, func(c *dbv1.DatabaseCluster) {
		atOnce(c)
		if change != nil {
			change(c)
		}
	}, healthy)
}

func podsOf(t *testing.T, cluster *dbv1.DatabaseCluster) []corev1.Pod {
	t.Helper()
	return listed(t, cluster.Namespace, &corev1.PodList{}, naming.Selector(cluster.Name)).Items
}

// uids returns the UIDs of the members' pods by name. A restart changes the UID.
func uids(t *testing.T, cluster *dbv1.DatabaseCluster) map[string]types.UID {
	t.Helper()
	all := map[string]types.UID{}
	for _, pod := range podsOf(t, cluster) {
		all[pod.Name] = pod.UID
	}
	return all
}

func mustNotBeRestarted(t *testing.T, cluster *dbv1.DatabaseCluster, before map[string]types.UID) {
	t.Helper()
	if now := uids(t, cluster); !maps.Equal(now, before) {
		t.Errorf("members were restarted: %v, before %v", now, before)
	}
}

// awaitRestarted waits until each member has a new pod and the cluster has converged.
func awaitRestarted(t *testing.T, cluster *dbv1.DatabaseCluster, before map[string]types.UID) {
	t.Helper()
	eventually(t, "all members to be restarted", func() error {
		now := uids(t, cluster)
		for name, uid := range before {
			if now[name] == uid || now[name] == "" {
				return fmt.Errorf("%s is %q", name, now[name])
			}
		}
		return nil
	})
	awaitReady(t, cluster)
}

// awaitConverged causes a change of the Service, and waits until the operator has applied it and has no work left.
func awaitConverged(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Service.Annotations = map[string]string{"test/generation": fmt.Sprint(c.Generation)}
	})
	awaitReady(t, cluster)
}

// stops watches members stop. Its result waits for a number of them and returns their order. If a member stops while
// another is not ready, the test fails.
func stops(t *testing.T, cluster *dbv1.DatabaseCluster) func(count int) []string {
	t.Helper()
	events, err := admin.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(cluster.Namespace), client.MatchingLabels(naming.Selector(cluster.Name)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(events.Stop)
	return func(count int) []string {
		var deleted, down []string
		for event := range events.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				t.Fatalf("%+v", event.Object)
			}
			down = without(down, pod.Name)
			if event.Type == watch.Deleted {
				deleted = append(deleted, pod.Name)
				if len(down) > 0 {
					t.Errorf("%s stopped while %v was not ready", pod.Name, down)
				}
			}
			if event.Type == watch.Deleted || !isReady(pod) {
				down = append(down, pod.Name)
			}
			if len(deleted) == count {
				break
			}
		}
		return deleted
	}
}

// mustBeFromTheHighest checks that the members of a cluster of three stopped from the highest ordinal.
func mustBeFromTheHighest(t *testing.T, stopped []string) {
	t.Helper()
	if !slices.Equal(stopped, []string{"orders-2", "orders-1", "orders-0"}) {
		t.Errorf("stopped in the order %v", stopped)
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func mustHaveImage(t *testing.T, cluster *dbv1.DatabaseCluster, want string) {
	t.Helper()
	for _, pod := range podsOf(t, cluster) {
		if image := pod.Spec.Containers[0].Image; image != want {
			t.Errorf("pod %s has image %s, want %s", pod.Name, image, want)
		}
	}
}

func TestARolloutRestartsOneMemberAtATimeFromTheHighestOrdinal(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	stopped := stops(t, cluster)
	change(t, cluster, setSecondImage)
	mustBeFromTheHighest(t, stopped(3))
	awaitReady(t, cluster)
	mustHaveImage(t, cluster, secondImage)
	s := cluster.Status
	if s.UpdatedReplicas != 3 || s.UpdateRevision == "" || len(s.Members) != 3 {
		t.Errorf("%+v", s)
	}
	for i, m := range s.Members {
		if m.Pod != fmt.Sprintf("orders-%d", i) || m.Outdated || !m.Ready || m.State != dbv1.MemberReady || m.Revision != s.UpdateRevision {
			t.Errorf("%+v", m)
		}
	}
}

func TestAPausedUpdateReachesOnlyMembersThatRestart(t *testing.T) {
	parallel(t)
	cluster := ready(t, func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = true })
	before := uids(t, cluster)
	change(t, cluster, setSecondImage)
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonRolloutPaused, "3 members are outdated", "spec.updateStrategy.paused")
	mustNotBeRestarted(t, cluster, before)

	remove(t, member(cluster, 1))
	await(t, cluster, "one member to be updated", func() bool {
		s := cluster.Status
		return s.UpdatedReplicas == 1 && s.ReadyReplicas == 3 && !s.Members[1].Outdated && s.Members[0].Outdated
	})
	if image := read(t, member(cluster, 1)).Spec.Containers[0].Image; image != secondImage {
		t.Errorf("orders-1 has image %s", image)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = false })
	awaitReady(t, cluster)
	mustHaveImage(t, cluster, secondImage)
}

func TestOnDeleteLeavesTheRestartOfMembersToTheUser(t *testing.T) {
	parallel(t)
	cluster := ready(t, func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete })
	before := uids(t, cluster)
	change(t, cluster, setSecondImage)
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonWaitingForUser, "3 members are outdated", "delete a pod to update it")
	mustNotBeRestarted(t, cluster, before)
	for ordinal := range 3 {
		remove(t, member(cluster, ordinal))
	}
	awaitRestarted(t, cluster, before)
	mustHaveImage(t, cluster, secondImage)
}

func TestMaxUnavailableLetsTwoMembersBeDownAtOnce(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { atOnce(c); c.Spec.UpdateStrategy.MaxUnavailable = 2 }, func(pod *corev1.Pod) {
		if pod.Spec.Containers[0].Image != secondImage || pod.Annotations["test/start"] != "" {
			healthy(pod)
		}
	})
	first := read(t, member(cluster, 0)).UID
	change(t, cluster, setSecondImage)
	await(t, cluster, "two members to be down", func() bool {
		s := cluster.Status
		return s.Replicas == 3 && s.ReadyReplicas == 1 && s.UpdatedReplicas == 2
	})
	if read(t, member(cluster, 0)).UID != first {
		t.Error("a third member was restarted")
	}
	for ordinal := 2; ordinal >= 0; ordinal-- {
		pod := member(cluster, ordinal)
		// Between the two pods of that name, no such pod exists.
		await(t, pod, pod.Name+" to have the image", func() bool { return pod.Spec.Containers[0].Image == secondImage })
		change(t, pod, func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, "test/start", "true") })
	}
	awaitReady(t, cluster)
}

func TestEachNewValueOfTheRestartAnnotationRestartsTheMembersOnce(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	for _, value := range []string{"1", "2"} {
		before, stopped := uids(t, cluster), stops(t, cluster)
		change(t, cluster, annotated(dbv1.AnnotationRestart, value))
		mustBeFromTheHighest(t, stopped(3))
		awaitRestarted(t, cluster, before)
		awaitRequest(t, cluster, dbv1.RequestRestart, value, dbv1.RequestCompleted)
	}
	before := uids(t, cluster)
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)
}

func TestTheUpdateAnnotationRestartsNoMemberWithoutANewerTemplate(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	before := uids(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationUpdate, "1"))
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)
}

func TestAScaleOutWaitsForATerminatingClaim(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 1 })
	awaitReady(t, cluster)

	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "data-orders-1"}}
	change(t, claim, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = append(c.Finalizers, "test.example/hold") })
	previous := claim.UID
	remove(t, claim)
	// Until the operator has seen the deletion, the claim of a member that comes back would be a lost one.
	await(t, cluster, "a status without the data of orders-1", func() bool {
		return !slices.ContainsFunc(cluster.Status.Volumes, func(r dbv1.VolumeRecord) bool { return r.Claim == claim.Name })
	})
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonWaitingForVolume, "PersistentVolumeClaim data-orders-1 is terminating")
	if got := uids(t, cluster); len(got) != 1 {
		t.Errorf("members %v while the claim of orders-1 is terminating", got)
	}

	change(t, claim, func(c *corev1.PersistentVolumeClaim) {
		c.Finalizers = without(c.Finalizers, "test.example/hold")
	})
	awaitReady(t, cluster)
	if read(t, claim).UID == previous {
		t.Error("orders-1 runs with the claim that was being deleted")
	}
}

func TestScalingInAndOutRetainsTheClaims(t *testing.T) {
	parallel(t)
	cluster := ready(t, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 1 })
	var kept map[string]types.UID
	for _, replicas := range []int32{3, 1, 3} {
		change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = replicas })
		awaitReady(t, cluster)
		if got := len(uids(t, cluster)); got != int(replicas) {
			t.Errorf("%d members, want %d", got, replicas)
		}
		claims := claimUIDs(t, cluster)
		if kept != nil && !maps.Equal(claims, kept) || len(claims) != 3 {
			t.Errorf("at %d members the claims are %v, before %v", replicas, claims, kept)
		}
		kept = claims
	}
}
