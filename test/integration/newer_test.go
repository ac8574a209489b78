//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// madeOtherwise leaves a StatefulSet, and its members, as another version of the operator would have left them.
func madeOtherwise(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	applied(t, cluster)
	former := uids(t, cluster)
	for _, pod := range pods(t, cluster) {
		remove(t, &pod)
	}
	eventually(t, "members of another version", func() error {
		all := pods(t, cluster)
		for _, pod := range all {
			if pod.Labels["made-by"] != "another-version" || pod.UID == former[pod.Name] || !isReady(&pod) {
				return fmt.Errorf("%s is not", pod.Name)
			}
		}
		return errorIf(len(all) != 3, "%d members", len(all))
	})
}

// applied writes a StatefulSet as the other version would: what the spec asks for, with metadata of the template
// that this version would not make.
func applied(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	set := read(t, statefulSet(cluster))
	made := resources.StatefulSet(engine.Resolve(read(t, cluster), nil), *set.Spec.Replicas, state.Observed{StatefulSet: set}).Object
	for _, field := range []struct{ value, at, key string }{
		{"another-version", "labels", "made-by"}, {"0123456789abcdef", "annotations", dbv1.AnnotationTemplate},
	} {
		if err := unstructured.SetNestedField(made.Object, field.value, "spec", "template", "metadata", field.at, field.key); err != nil {
			t.Fatal(err)
		}
	}
	// By the operator's name, or what that version made would be somebody else's.
	as := client.FieldOwner(dbv1.FieldOwner)
	if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(made), as, client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	before := read(t, set).DeepCopy()
	set.Annotations[dbv1.AnnotationStoredSpec] = resources.StoredSpecHash(set)
	if err := admin.Patch(t.Context(), set, client.MergeFrom(before), as); err != nil {
		t.Fatal(err)
	}
	if read(t, set); set.Annotations[dbv1.AnnotationStoredSpec] != resources.StoredSpecHash(set) {
		t.Fatal("the API server stored another template than was sent: the seal does not hold")
	}
	await(t, set, "the controller to see the StatefulSet", func() bool { return set.Status.ObservedGeneration >= set.Generation })
}

// upgraded is a cluster that another version made, after this one has started.
func upgraded(t *testing.T, more, meanwhile func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	t.Helper()
	ns := ownNamespace(t)
	config := kubeconfig(t, operatorUser, "")
	former := operator(t, config, nil, "--watch-namespace="+ns)
	cluster := smallest(ns, "orders")
	atOnce(cluster)
	if more != nil {
		more(cluster)
	}
	create(t, cluster)
	kubelet(t, ns, healthy)
	awaitReady(t, cluster)
	former.stopped(t)
	madeOtherwise(t, cluster)
	if meanwhile != nil {
		meanwhile(cluster)
	}
	operator(t, config, nil, "--watch-namespace="+ns)
	return cluster
}

func TestANewerOperatorRestartsNobodyUntilSomebodyAsks(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, nil, nil)
	before := uids(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate, dbv1.AnnotationUpdate)
	settle(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 4 }) // a new member is made as the others
	awaitReady(t, cluster)
	if pod := read(t, member(cluster, 3)); pod.Labels["made-by"] != "another-version" {
		t.Errorf("orders-3 is made otherwise than the others: %v", pod.Labels)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	awaitReady(t, cluster)
	mustNotBeRestarted(t, cluster, before)

	stopped := stops(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationUpdate, "now"))
	mustBeFromTheHighest(t, stopped(3))
	awaitRestarted(t, cluster, before)
	awaitCondition(t, cluster, dbv1.ConditionUpdateAvailable, metav1.ConditionFalse, dbv1.ReasonUpToDate)
	for _, pod := range pods(t, cluster) {
		if pod.Labels["made-by"] != "" {
			t.Errorf("%s is still made as the other version made it", pod.Name)
		}
	}
}

func TestANewerOperatorsTemplateComesWithTheNextChangeOfTheSpec(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, nil, nil)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	before := uids(t, cluster)
	change(t, cluster, takeSecondImage)
	awaitRestarted(t, cluster, before)
	awaitCondition(t, cluster, dbv1.ConditionUpdateAvailable, metav1.ConditionFalse, dbv1.ReasonUpToDate)
	mustHaveImage(t, cluster, secondImage)
}

// mustGrowWithoutRestart grows the volumes while the members run.
func mustGrowWithoutRestart(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	driver(t, cluster, "10Gi")
	awaitBound(t, cluster)
	before := uids(t, cluster)
	change(t, cluster, growTo("2Gi"))
	awaitReady(t, cluster)
	mustHaveVolumesOf(t, cluster, "2Gi")
	mustNotBeRestarted(t, cluster, before)
}

func TestAVolumeThatGrowsUnderANewerOperatorRestartsNobody(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), nil)
	mustGrowWithoutRestart(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	if got := read(t, statefulSet(cluster)).Spec.Template.Labels["made-by"]; got != "another-version" {
		t.Errorf("the StatefulSet that was made anew has another template: made by %q", got)
	}
}

// A member that was given its resources while it ran bears the revision that it was made from.
func TestAVolumeThatGrowsUnderANewerOperatorRestartsNobodyWhoWasResized(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), func(c *dbv1.DatabaseCluster) {
		change(t, c, requestMemory("128Mi"))
		applied(t, c)
		for _, pod := range pods(t, c) {
			before := pod.DeepCopy()
			pod.Spec.Containers[0].Resources = c.Spec.Resources
			if err := admin.SubResource("resize").Patch(t.Context(), &pod, client.StrategicMergeFrom(before)); err != nil {
				t.Fatal(err)
			}
		}
	})
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	settle(t, cluster)
	mustGrowWithoutRestart(t, cluster)
}

// Somebody asked for what was newer then, and nothing was: the revision is the same as before.
func TestAVolumeThatGrowsUnderANewerOperatorRestartsNobodyAfterAnUpdateThatChangedNothing(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), func(c *dbv1.DatabaseCluster) {
		change(t, c, annotated(dbv1.AnnotationUpdate, "1"))
		applied(t, c)
	})
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	settle(t, cluster)
	mustGrowWithoutRestart(t, cluster)
}
