/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
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
