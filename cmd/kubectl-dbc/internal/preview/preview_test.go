/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "1234", Generation: 3, Finalizers: []string{dbv1.Finalizer}}}
	c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = 3, "database:1", resource.MustParse("1Gi")
	return c
}

// observed is what a pass reads of a cluster whose StatefulSet is as the operator wrote it.
func observed(t *testing.T, c *dbv1.DatabaseCluster) state.Observed {
	t.Helper()
	o := state.Observed{At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fresh(situation.Of(c, o)).Object.Object, set); err != nil {
		t.Fatal(err)
	}
	set.UID, set.Generation = "5678", 1
	o.StatefulSet = set
	return o
}

// changed is the preview of a change of the cluster.
func changed(t *testing.T, edit func(*dbv1.DatabaseCluster)) Preview {
	t.Helper()
	before, after := orders(), orders()
	edit(after)
	o := observed(t, before)
	return Spec(situation.Of(before, o), situation.Of(after, o))
}

func TestAChangeOfTheSpecHasItsObjectsAndItsMeaning(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*dbv1.DatabaseCluster)
		kinds string
		want  string
	}{
		"nothing":                  {func(*dbv1.DatabaseCluster) {}, "", "No change."},
		"the image":                {image, "DatabaseCluster StatefulSet", "The members restart one after another, the primary last."},
		"the image, slow":          {func(c *dbv1.DatabaseCluster) { image(c); c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete }, "DatabaseCluster StatefulSet", "until you delete these"},
		"the image, later":         {func(c *dbv1.DatabaseCluster) { image(c); c.Spec.UpdateStrategy.Paused = true }, "DatabaseCluster StatefulSet", "restart when spec.updateStrategy.paused is false"},
		"the image, two at a time": {func(c *dbv1.DatabaseCluster) { image(c); c.Spec.UpdateStrategy.MaxUnavailable = 2 }, "DatabaseCluster StatefulSet", "at most 2 at a time"},
		"while it is paused":       {func(c *dbv1.DatabaseCluster) { image(c); c.Spec.Paused = true }, "DatabaseCluster StatefulSet", "spec.paused is true"},
		"the resources": {func(c *dbv1.DatabaseCluster) {
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		}, "DatabaseCluster StatefulSet", "The members get their resources while they run."},
		"more members":     {func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 5 }, "DatabaseCluster StatefulSet", "The number of members grows from 3 to 5."},
		"larger volumes":   {func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse("2Gi") }, "DatabaseCluster StatefulSet", "The volumes grow from 1Gi to 2Gi"},
		"hibernation":      {func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true }, "DatabaseCluster StatefulSet", "All members stop, the primary last."},
		"no policy":        {func(c *dbv1.DatabaseCluster) { c.Spec.NetworkPolicy.Mode = dbv1.NetworkPolicyNone }, "DatabaseCluster NetworkPolicy", "No member restarts."},
		"the Service":      {func(c *dbv1.DatabaseCluster) { c.Spec.Service.Type = corev1.ServiceTypeNodePort }, "DatabaseCluster Service", "No member restarts."},
		"a missing engine": {func(c *dbv1.DatabaseCluster) { c.Spec.Engine = "none" }, "DatabaseCluster", "Stalled (EngineMissing)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := changed(t, c.edit)
			var kinds []string
			for _, d := range p.Differences {
				kinds = append(kinds, d.Kind)
			}
			if got := strings.Join(kinds, " "); got != c.kinds || !strings.Contains(strings.Join(p.Sentences, "\n"), c.want) {
				t.Errorf("got %s, %q", got, p.Sentences)
			}
		})
	}
}

func image(c *dbv1.DatabaseCluster) { c.Spec.Image = "database:2" }

// requests is a change of annotations of a cluster that has a status.
func requests(t *testing.T, annotations map[string]string, edits ...func(*dbv1.DatabaseCluster)) Preview {
	t.Helper()
	before := orders()
	before.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonReady}}
	for _, edit := range edits {
		edit(before)
	}
	after := before.DeepCopy()
	after.Annotations = annotations
	o := observed(t, before)
	o.Engine = &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1"}}
	o.Engine.Spec.Topology, o.Engine.Spec.Roles = dbv1.TopologyPrimaryReplica, &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica"}
	return Spec(situation.Of(before, o), situation.Of(after, o))
}

// An annotation restarts, stops or deletes something although the spec is the same.
func TestARequestHasItsEffectAsItsMeaning(t *testing.T) {
	for name, c := range map[string]struct {
		annotation, value string
		edit              func(*dbv1.DatabaseCluster)
		want              string
	}{
		"a rebuild":          {dbv1.AnnotationRebuild, "orders-2/now", nothing, "The operator deletes the volume of member orders-2"},
		"a hand-over":        {dbv1.AnnotationHandOver, "orders-1/now", nothing, "Member orders-1 becomes the primary."},
		"a refused rebuild":  {dbv1.AnnotationRebuild, "orders-7", nothing, "The operator refuses the request Rebuild: the cluster has the pods orders-0 to orders-2"},
		"a refresh":          {dbv1.AnnotationRefresh, "now", nothing, "reads the Secrets and ConfigMaps of the spec again"},
		"a useless rotation": {dbv1.AnnotationRotateCredentials, "now", nothing, "The operator refuses the request RotateCredentials: it generates no passwords"},
		"while it sleeps":    {dbv1.AnnotationHandOver, "orders-1", func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true }, "The request HandOver waits until you wake the cluster."},
		"a deletion": {dbv1.AnnotationRestart, "now", func(c *dbv1.DatabaseCluster) { c.DeletionTimestamp = new(metav1.Now()) },
			"The DatabaseCluster is being deleted: the operator continues that, and changes no member"},
	} {
		p := requests(t, map[string]string{c.annotation: c.value}, c.edit)
		if got := strings.Join(p.Sentences, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s", name, got)
		}
		if name == "a deletion" && (len(p.Differences) != 1 || p.Differences[0].Kind != "DatabaseCluster") {
			t.Errorf("while the cluster is being deleted, the operator writes %+v", p.Differences)
		}
	}
	if p := requests(t, map[string]string{"example.test/note": "yes"}); strings.Contains(strings.Join(p.Sentences, " "), "request") || len(p.Sentences) != 1 {
		t.Errorf("another annotation: %q", p.Sentences)
	}
}

func nothing(*dbv1.DatabaseCluster) {}

// Members do not change while an object is missing. The manifest that corrects this shows how they differ from what runs.
func TestACorrectionShowsTheStatefulSet(t *testing.T) {
	running, blocked, corrected := orders(), orders(), orders()
	image(blocked)
	image(corrected)
	o, missing := observed(t, running), observed(t, running)
	missing.References = []pods.Reference{{Kind: "Secret", Name: "none", Where: "spec.container.envFrom"}}
	before := situation.Of(blocked, missing)
	if !before.TemplateBlocked() {
		t.Fatal("the template is not blocked")
	}
	corrected.Labels = map[string]string{"team": "a"}
	p := Spec(before, situation.Of(corrected, o))
	i := slices.IndexFunc(p.Differences, func(d Difference) bool { return d.Kind == "StatefulSet" })
	if i < 0 || !strings.Contains(p.Differences[i].Before, "image: database:1") || !strings.Contains(p.Differences[i].After, "image: database:2") {
		t.Errorf("got %+v", p.Differences)
	}
	if got := strings.Join(p.Sentences, " "); !strings.Contains(got, "The members restart one after another") || strings.Contains(got, "This version would render") {
		t.Errorf("got %q", got)
	}
}

// The exit code of diff is 1 then, although no object differs.
func TestAClusterThatNeedsTheUserOrIsInAStepIsNotUnchanged(t *testing.T) {
	c := orders()
	c.Spec.Engine = "none"
	if p := Pending(situation.Of(c, observed(t, orders()))); !p.Changed() || !strings.Contains(strings.Join(p.Sentences, " "), "Stalled (EngineMissing)") {
		t.Errorf("got %t, %q", p.Changed(), p.Sentences)
	}
	if p := (Preview{Sentences: []string{"No change."}}); p.Changed() {
		t.Error("an idle cluster has changed")
	}
}

func TestANewClusterIsCreated(t *testing.T) {
	c := orders()
	p := Spec(nil, situation.Of(c, state.Observed{}))
	if len(p.Differences) < 5 || p.Differences[0].Before != "" || !strings.Contains(strings.Join(p.Sentences, " "), "creates the cluster with 3 members") {
		t.Errorf("got %d objects, %q", len(p.Differences), p.Sentences)
	}
}

// A template that another version of the operator has rendered stays until its inputs change. Then all of it is rendered again.
func TestATemplateOfAnotherVersionIsKeptOrReported(t *testing.T) {
	before, after := orders(), orders()
	o := observed(t, before)
	o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationTemplate] = "of-another-version"
	after.Spec.Service.Type = corev1.ServiceTypeNodePort
	if p := Spec(situation.Of(before, o), situation.Of(after, o)); p.Sentences[0] != "No member restarts." {
		t.Errorf("got %q", p.Sentences)
	}
	image(after)
	if p := Spec(situation.Of(before, o), situation.Of(after, o)); !strings.Contains(p.Sentences[0], "This version would render the pods of the current spec differently") {
		t.Errorf("got %q", p.Sentences)
	}
}

func TestTheHashesOfTheOperatorAreNotShown(t *testing.T) {
	for _, d := range changed(t, image).Differences {
		for _, annotation := range []string{dbv1.AnnotationApplied, dbv1.AnnotationRenderedFrom, dbv1.AnnotationTemplate} {
			if strings.Contains(d.Before+d.After, annotation) {
				t.Errorf("%s %s has %s:\n%s", d.Kind, d.Name, annotation, d.After)
			}
		}
	}
}

// The stored spec of a cluster without its Services and its policy has them as differences, and a manual change of a Service.
func TestWhatTheNextPassWritesIsShown(t *testing.T) {
	c := orders()
	o := observed(t, c)
	o.Service = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort}}
	p := Pending(situation.Of(c, o))
	found := map[string]Difference{}
	for _, d := range p.Differences {
		found[d.Kind+" "+d.Name] = d
	}
	if d := found["Service orders"]; !strings.Contains(d.Before, "type: NodePort") || !strings.Contains(d.After, "type: ClusterIP") && !strings.Contains(d.After, "selector") {
		t.Errorf("got\n%s\n%s", d.Before, d.After)
	}
	if d, created := found["NetworkPolicy orders"]; !created || d.Before != "" {
		t.Errorf("got %v", found)
	}
	if len(p.Sentences) == 0 || !strings.Contains(p.Sentences[0], "The operator is in the step Applying") {
		t.Errorf("got %q", p.Sentences)
	}
}
