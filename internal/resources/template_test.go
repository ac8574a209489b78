/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

func TestAValidTemplateIsRepeatedEvenIfThisVersionWouldRenderAnother(t *testing.T) {
	cluster := full(t)
	set := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	set.Spec.Template.Spec.PriorityClassName = "of-another-version"
	set.Spec.Template.Annotations[dbv1.AnnotationTemplate] = "of-another-version"
	set.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(set)
	if child := StatefulSet(cluster, 3, state.Observed{StatefulSet: set}); child.Drift(set) != "" || child.Removals(set) != nil {
		t.Errorf("drift at %q", child.Drift(set))
	}
	if !Newer(cluster, state.Observed{StatefulSet: set}) {
		t.Error("Newer must report that this version renders another template")
	}
}

func TestAReCreatedStatefulSetKeepsItsTemplate(t *testing.T) {
	cluster := smallest()
	previous := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	previous.Spec.Template.Spec.PriorityClassName = "of-another-version"
	again := func() string {
		return golden.Live[appsv1.StatefulSet](t, StatefulSet(cluster, 3, state.Observed{PreviousStatefulSet: previous})).Spec.Template.Spec.PriorityClassName
	}
	if again() != "of-another-version" {
		t.Error("its members would be restarted")
	}
	cluster.Spec.Image = "example.test/database:2"
	if again() != "" {
		t.Error("the spec has changed, but the members would not be restarted")
	}
}

func TestAStatefulSetWithoutItsStoredHashKeepsItsTemplateUntilAnotherWriterChangesIt(t *testing.T) {
	cluster := smallest()
	unrecorded := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	unrecorded.Spec.Template.Spec.PriorityClassName = "of-another-version"
	delete(unrecorded.Annotations, dbv1.AnnotationStoredSpec)
	for generation, want := range map[int64]string{1: "of-another-version", 2: ""} {
		unrecorded.Generation = generation
		child := StatefulSet(cluster, 3, state.Observed{StatefulSet: unrecorded, PreviousStatefulSet: unrecorded})
		if got := golden.Live[appsv1.StatefulSet](t, child).Spec.Template.Spec.PriorityClassName; got != want {
			t.Errorf("generation %d: %q", generation, got)
		}
	}
}

// The hash of a template's inputs must be the same in every version of the operator that does not intend to restart
// every database. The inputs are frozen, so that a new field of full.input.yaml does not affect them.
func TestTheInputsOfATemplateHashAsInEarlierVersions(t *testing.T) {
	references := []pods.Reference{{Kind: "Secret", Name: "passwords", Found: true, Content: "c"}}
	for want, got := range map[string]string{
		"4cac46c22bdac5ec": renderedFrom(smallest(), nil),
		"e162bdcd4c043c26": renderedFrom(golden.Input(t, "released"), references),
		"c5fe382d986ba2d1": renderedFrom(withEngine(), nil),
	} {
		if got != want {
			t.Errorf("got %s, want %s: with another value, a new version of the operator renders every pod template again and restarts databases. "+
				"Never change the pinned value to make this test pass: a new field of the spec must be omitted from its JSON while it is not set", got, want)
		}
	}
}

func TestAChangeOfTheResourcesKeepsTheTemplatesHash(t *testing.T) {
	before, after := smallest(), smallest()
	after.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
	hashOf := func(c *dbv1.DatabaseCluster) string {
		return golden.Live[appsv1.StatefulSet](t, StatefulSet(c, 3, state.Observed{})).Spec.Template.Annotations[dbv1.AnnotationTemplate]
	}
	if hashOf(before) != hashOf(after) {
		t.Error("the hashes differ: no member could be resized while it runs")
	}
	after.Spec.Image = "other"
	if hashOf(before) == hashOf(after) {
		t.Error("another image has the same hash")
	}
}

func TestPreviousResourcesDoNotRestoreThePreviousRevision(t *testing.T) {
	cluster := smallest()
	first := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	set := first
	for i, cpu := range []string{"2", "1"} {
		cluster.Generation = int64(i + 2)
		cluster.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		set = stored(t, StatefulSet(cluster, 3, state.Observed{StatefulSet: set}))
	}
	if reflect.DeepEqual(set.Spec.Template, first.Spec.Template) {
		t.Error("the template equals the first one: members with other resources would count as current")
	}
	cluster.Generation, cluster.Spec.Image = 9, "other"
	if got := StatefulSet(cluster, 3, state.Observed{StatefulSet: set}); golden.Live[appsv1.StatefulSet](t, got).Spec.Template.Annotations[dbv1.AnnotationResources] != "3" {
		t.Error("another field's change is recorded as a change of the resources")
	}
}

func TestDecisionsAboutResourcesHaveRevisionsOfTheirOwn(t *testing.T) {
	cluster := smallest()
	cluster.Spec.AutoResize = &dbv1.ClusterAutoResize{}
	first := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	if plain := stored(t, StatefulSet(smallest(), 3, state.Observed{})); !reflect.DeepEqual(first, plain) {
		t.Error("spec.autoResize itself changes the StatefulSet")
	}
	set := first
	for i, cpu := range []string{"2", "1"} {
		cluster.Status.AutoResize = &dbv1.ClusterAutoResizeStatus{Time: metav1.Unix(int64(i+1), 0)}
		cluster.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		set = stored(t, StatefulSet(cluster, 3, state.Observed{StatefulSet: set}))
	}
	if reflect.DeepEqual(set.Spec.Template, first.Spec.Template) {
		t.Error("the template equals the first one: members with other resources would count as current")
	}
}

func TestReferencesAreTheObjectsThatPodsNeedToStart(t *testing.T) {
	var got []string
	for _, r := range pods.References(full(t)) {
		got = append(got, fmt.Sprintf("%s %s by %s, optional %v", r.Kind, r.Name, r.Where, r.Optional))
	}
	want := []string{
		"Secret keys by spec.credentials.secretName, optional false",
		"Secret passwords by spec.container.env[PASSWORD], optional false",
		"ConfigMap settings by spec.container.envFrom, optional false",
		"Secret certificates by spec.pod.volumes[tls].secret, optional false",
		"ConfigMap extras by spec.pod.volumes[extras].configMap, optional true",
		"Secret vault by spec.pod.volumes[identity].projected, optional false",
		"ConfigMap regions by spec.pod.volumes[identity].projected, optional true",
		"Secret store by spec.pod.volumes[store].csi.nodePublishSecretRef, optional false",
		"ServiceAccount databases by spec.serviceAccount.name, optional false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestJobsNeedNothingOfTheTemplatesContainers(t *testing.T) {
	cluster := full(t)
	from := corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "sidecars"}}
	cluster.Spec.Pod.Sidecars = append(cluster.Spec.Pod.Sidecars, dbv1.Sidecar{ClusterExtraContainer: dbv1.ClusterExtraContainer{EnvFrom: []corev1.EnvFromSource{{SecretRef: &from}}}})
	all, jobs := pods.References(cluster), pods.ActionReferences(cluster)
	if len(all) != len(jobs)+1 || all[len(jobs)-1].Name != "sidecars" || jobs[0].Name != "keys" || jobs[1].Name != "passwords" {
		t.Errorf("members need %v, Jobs %v", all, jobs)
	}
}

func TestAChangedReferenceRendersANewTemplate(t *testing.T) {
	cluster := full(t)
	with := func(content string) *appsv1.StatefulSet {
		return stored(t, StatefulSet(cluster, 3, state.Observed{References: []pods.Reference{{Kind: "Secret", Name: "passwords", Found: true, Content: content}}}))
	}
	now := []pods.Reference{{Kind: "Secret", Name: "passwords", Found: true, Content: "new"}}
	for content, changes := range map[string]bool{"new": false, "old": true} {
		set := with(content)
		if got := StatefulSet(cluster, 3, state.Observed{StatefulSet: set, References: now}).Drift(set) != ""; got != changes {
			t.Errorf("%s: drift %v", content, got)
		}
	}
}

func TestContainersOfTheSpecCannotWeakenSecurity(t *testing.T) {
	for _, c := range golden.Live[appsv1.StatefulSet](t, StatefulSet(full(t), 3, state.Observed{})).Spec.Template.Spec.InitContainers {
		s := c.SecurityContext
		if c.Name == naming.VersionContainer { // it runs the database's image, with the database's settings
			continue
		}
		if s == nil || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s: %+v", c.Name, s)
		}
	}
}

func TestTheNetworkPolicyOfTheSpecRestartsNobody(t *testing.T) {
	cluster := golden.Input(t, "full")
	before := renderedFrom(cluster, nil)
	cluster.Spec.NetworkPolicy = dbv1.ClusterNetworkPolicy{Mode: dbv1.NetworkPolicyNone}
	if renderedFrom(cluster, nil) != before {
		t.Error("spec.networkPolicy is an input of the pod template")
	}
}
