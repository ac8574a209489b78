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
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// renderedByAnother leaves a StatefulSet and its members as another version of the operator would have left them.
func renderedByAnother(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	applied(t, cluster)
	previous := uids(t, cluster)
	for _, pod := range podsOf(t, cluster) {
		remove(t, &pod)
	}
	eventually(t, "members of another version", func() error {
		all := podsOf(t, cluster)
		for _, pod := range all {
			if pod.Labels["made-by"] != "another-version" || pod.UID == previous[pod.Name] || !isReady(&pod) {
				return fmt.Errorf("%s is not from another version", pod.Name)
			}
		}
		return errorIf(len(all) != 3, "%d members", len(all))
	})
}

// applied writes a StatefulSet as the other version would: with metadata in the template that this version would not
// render.
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
	// The operator's field manager: otherwise another manager would own the fields.
	as := client.FieldOwner(dbv1.FieldOwner)
	if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(made), as, client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	before := read(t, set).DeepCopy()
	set.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(set)
	if err := admin.Patch(t.Context(), set, client.MergeFrom(before), as); err != nil {
		t.Fatal(err)
	}
	if read(t, set); set.Annotations[dbv1.AnnotationStoredSpec] != objects.StoredSpecHash(set) {
		t.Fatal("the API server stored another template than the test sent, so the hash does not match")
	}
	await(t, set, "the controller to see the StatefulSet", func() bool { return set.Status.ObservedGeneration >= set.Generation })
}

// upgraded returns a cluster that another version created, after this version has started.
func upgraded(t *testing.T, more, meanwhile func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	t.Helper()
	ns := ownNamespace(t)
	config := kubeconfig(t, operatorUser, "")
	previous := operator(t, config, nil, "--watch-namespace="+ns)
	cluster := smallest(ns, "orders")
	atOnce(cluster)
	if more != nil {
		more(cluster)
	}
	create(t, cluster)
	kubelet(t, ns, healthy)
	awaitReady(t, cluster)
	previous.mustStop(t)
	renderedByAnother(t, cluster)
	if meanwhile != nil {
		meanwhile(cluster)
	}
	operator(t, config, nil, "--watch-namespace="+ns)
	return cluster
}

func TestANewerOperatorRestartsNoMemberUntilTheUserRequestsIt(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, nil, nil)
	before := uids(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate, dbv1.AnnotationUpdate)
	awaitConverged(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 4 }) // the new member gets the template of the others
	awaitReady(t, cluster)
	if pod := read(t, member(cluster, 3)); pod.Labels["made-by"] != "another-version" {
		t.Errorf("orders-3 has another template than the others: %v", pod.Labels)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	awaitReady(t, cluster)
	mustNotBeRestarted(t, cluster, before)

	stopped := stops(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationUpdate, "now"))
	mustBeFromTheHighest(t, stopped(3))
	awaitRestarted(t, cluster, before)
	awaitCondition(t, cluster, dbv1.ConditionUpdateAvailable, metav1.ConditionFalse, dbv1.ReasonUpToDate)
	for _, pod := range podsOf(t, cluster) {
		if pod.Labels["made-by"] != "" {
			t.Errorf("%s still has the template of the other version", pod.Name)
		}
	}
}

func TestANewerOperatorAppliesItsTemplateWithTheNextChangeOfTheSpec(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, nil, nil)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	before := uids(t, cluster)
	change(t, cluster, setSecondImage)
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

func TestAGrowthUnderANewerOperatorRestartsNoMember(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), nil)
	mustGrowWithoutRestart(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	if got := read(t, statefulSet(cluster)).Spec.Template.Labels["made-by"]; got != "another-version" {
		t.Errorf("the re-created StatefulSet has another template: rendered by %q", got)
	}
}

// A member that was resized while it ran has the revision label from its creation.
func TestAGrowthUnderANewerOperatorRestartsNoResizedMember(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), func(c *dbv1.DatabaseCluster) {
		change(t, c, requestMemory("128Mi"))
		applied(t, c)
		for _, pod := range podsOf(t, c) {
			before := pod.DeepCopy()
			pod.Spec.Containers[0].Resources = c.Spec.Resources
			if err := admin.SubResource("resize").Patch(t.Context(), &pod, client.StrategicMergeFrom(before)); err != nil {
				t.Fatal(err)
			}
		}
	})
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	awaitConverged(t, cluster)
	mustGrowWithoutRestart(t, cluster)
}

// The user requested an update before there was a newer template, so the revision is unchanged.
func TestAGrowthUnderANewerOperatorRestartsNoMemberAfterAnEmptyUpdate(t *testing.T) {
	parallel(t)
	cluster := upgraded(t, onVolumes(t), func(c *dbv1.DatabaseCluster) {
		change(t, c, annotated(dbv1.AnnotationUpdate, "1"))
		applied(t, c)
	})
	awaitTrue(t, cluster, dbv1.ConditionUpdateAvailable, dbv1.ReasonNewerTemplate)
	awaitConverged(t, cluster)
	mustGrowWithoutRestart(t, cluster)
}
