/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// written is a cluster, and its StatefulSet as the operator created it and recorded it in the status.
func written(t *testing.T) (*dbv1.DatabaseCluster, *appsv1.StatefulSet) {
	t.Helper()
	cluster := smallest()
	set := golden.Live[appsv1.StatefulSet](t, StatefulSet(cluster, 3, state.Observed{}))
	set.UID, set.Generation = "first", 1
	cluster.Status.StatefulSet = objects.Written(cluster.Status.StatefulSet, set)
	if cluster.Status.StatefulSet == nil {
		t.Fatal("no record of a new StatefulSet")
	}
	return cluster, set
}

func add(set *appsv1.StatefulSet) {
	containers := &set.Spec.Template.Spec.Containers
	*containers = append(*containers, corev1.Container{Name: "theirs", Image: "theirs"})
	set.Generation++
}

func drifts(cluster *dbv1.DatabaseCluster, set *appsv1.StatefulSet) bool {
	return StatefulSet(cluster, 3, state.Observed{StatefulSet: set}).Drift(set) != ""
}

func TestAnEditOfAStatefulSetIsDrift(t *testing.T) {
	for name, edit := range map[string]func(*dbv1.DatabaseCluster, *appsv1.StatefulSet){
		"after the record in the status":         func(*dbv1.DatabaseCluster, *appsv1.StatefulSet) {},
		"before the record in the status":        func(c *dbv1.DatabaseCluster, _ *appsv1.StatefulSet) { c.Status.StatefulSet = nil },
		"after an update that the status misses": func(_ *dbv1.DatabaseCluster, s *appsv1.StatefulSet) { overwrite(s, 5) },
	} {
		cluster, set := written(t)
		edit(cluster, set)
		if drifts(cluster, set) {
			t.Errorf("%s: drift before the edit", name)
		}
		add(set)
		if !drifts(cluster, set) {
			t.Errorf("%s: an extra container is no drift", name)
		}
		if objects.Written(cluster.Status.StatefulSet, set) != cluster.Status.StatefulSet {
			t.Errorf("%s: the edit is recorded", name)
		}
	}
}

// overwrite lets the operator have written a generation.
func overwrite(set *appsv1.StatefulSet, to int64) {
	set.Annotations[dbv1.AnnotationStoredSpec], set.Generation = objects.Generation(set, to), to
}

// After an upgrade of the operator, another client scales the StatefulSet.
func TestAForeignScaleDoesNotRenderTheTemplateOfANewerOperator(t *testing.T) {
	for name, generation := range map[string]int64{"new": 1, "updated": 4} {
		cluster, set := written(t)
		set.Spec.Template.Spec.PriorityClassName = "of-another-version"
		overwrite(set, generation)
		cluster.Status.StatefulSet = objects.Written(nil, set)
		set.Spec.Replicas = new(int32(5))
		set.Generation++
		child := StatefulSet(cluster, 3, state.Observed{StatefulSet: set})
		if got := golden.Live[appsv1.StatefulSet](t, child).Spec.Template.Spec.PriorityClassName; got != "of-another-version" {
			t.Errorf("%s: the members would be restarted", name)
		}
		if child.Drift(set) != "spec.replicas" {
			t.Errorf("%s: the drift is %q", name, child.Drift(set))
		}
	}
}

// Another client deletes the StatefulSet, keeps its pods, and creates an edited copy.
func TestAStatefulSetCreatedAgainByAnotherClientIsNotUntouched(t *testing.T) {
	cluster, set := written(t)
	add(set)
	set.UID, set.Generation = "second", 1
	if !drifts(cluster, set) {
		t.Error("an extra container is no drift")
	}
}

// The apply of a label does not change the spec. The operator ends before it records the hash, and another client adds a container.
func TestAnEditAfterACrashBetweenApplyAndRecordIsDrift(t *testing.T) {
	cluster, set := written(t)
	overwrite(set, 4)
	delete(set.Labels, dbv1.LabelManagedBy)
	child := StatefulSet(cluster, 3, state.Observed{StatefulSet: set})
	if child.Drift(set) == "" {
		t.Fatal("a lost label is no drift")
	}
	applied := golden.Live[appsv1.StatefulSet](t, child.RecordingGeneration(set))
	applied.UID, applied.Generation = set.UID, 4
	add(applied)
	if !drifts(cluster, applied) {
		t.Error("an extra container is no drift")
	}
}

// Another client creates an exact copy, with the annotations of the StatefulSet. Its generations start again.
func TestAnEditOfACopyWithTheSameAnnotationsIsDrift(t *testing.T) {
	cluster, set := written(t)
	overwrite(set, 2)
	cluster.Status.StatefulSet = objects.Written(cluster.Status.StatefulSet, set)
	set.UID, set.Generation = "second", 1
	if drifts(cluster, set) {
		t.Fatal("an exact copy is drift")
	}
	add(set)
	if !drifts(cluster, set) {
		t.Error("an extra container is no drift")
	}
}

// A webhook sets the changed field back, so the generation of the record does not exist.
func TestARecordOfTheNextGenerationIsDrift(t *testing.T) {
	cluster, set := written(t)
	set.Annotations[dbv1.AnnotationStoredSpec] = objects.Generation(set, 2)
	if !drifts(cluster, set) {
		t.Error("the operator would keep a record that hides the next edit")
	}
	if child := StatefulSet(cluster, 3, state.Observed{StatefulSet: set}); len(child.Removals(set)) == 0 {
		t.Error("the next write would record a generation again")
	}
}
