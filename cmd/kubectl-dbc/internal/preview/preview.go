/*
SPDX-License-Identifier: Apache-2.0
*/

// Package preview shows what the operator would change in a cluster, by the operator's own decisions.
package preview

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/network"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Difference is an object before and after a change, as YAML. One that does not exist is empty.
type Difference struct {
	Kind, Name, Before, After string
}

// Preview is what would change.
type Preview struct {
	Differences []Difference
	// Sentences are what the change means for the members and their clients.
	Sentences []string
	// Unsettled is true if the operator needs the user, or is in a step.
	Unsettled bool
}

// Changed reports whether anything would change, or has not changed yet.
func (p Preview) Changed() bool { return len(p.Differences) > 0 || p.Unsettled }

// Spec compares the objects that the operator renders from two specs. Before is nil for a new cluster.
func Spec(before, after *situation.Situation) Preview {
	p := Preview{Differences: compare(declared(before), declared(after))}
	if !after.Deleting() {
		p.Differences = append(p.Differences, children(before, after)...)
	}
	p.Sentences = meaning(before, after, p.Changed())
	return p
}

// children compares the objects of two specs. The operator does not write all of them now: see rendered. Those that it did not write before
// are compared with the live ones.
func children(before, after *situation.Situation) []Difference {
	was, next := rendered(before), rendered(after)
	if before == nil {
		return compare(was, next)
	}
	for _, object := range next {
		if now := live(before, object.GetKind(), object.GetName()); now != nil && stays(object.GetKind(), before) {
			was = append(was, shared(now, object))
		}
	}
	return slices.DeleteFunc(compare(was, next), func(d Difference) bool { return stays(d.Kind, after) })
}

// stays reports whether the operator does not write objects of a kind now: see rendered.
func stays(kind string, s *situation.Situation) bool {
	return kind == "StatefulSet" && s.TemplateBlocked() || kind == "Service" && !s.EngineKnown()
}

// declared is the DatabaseCluster without what only the API server and the operator write.
func declared(s *situation.Situation) []*unstructured.Unstructured {
	if s == nil {
		return nil
	}
	fields := objects.Fields(s.Declared)
	one := &unstructured.Unstructured{Object: map[string]any{"spec": fields["spec"]}}
	one.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	one.SetName(s.Declared.Name)
	one.SetLabels(s.Declared.Labels)
	one.SetAnnotations(without(s.Declared.Annotations, "kubectl.kubernetes.io/last-applied-configuration"))
	return []*unstructured.Unstructured{one}
}

// rendered are the objects as the operator would create them in an empty namespace. So they have no defaults of the API server, and all
// members that the spec wants. Without the engine, or with a spec that the engine refuses, the operator changes no members.
func rendered(s *situation.Situation) []*unstructured.Unstructured {
	if s == nil {
		return nil
	}
	var all []*unstructured.Unstructured
	add := func(child objects.Child) { all = append(all, clean(child.Object)) }
	if s.EngineKnown() {
		add(resources.HeadlessService(s.Cluster))
		add(resources.Service(s.Cluster, s.Engine))
		if s.HasRoles() {
			add(resources.ReplicasService(s.Cluster, s.Engine))
		}
	}
	if s.SplitsBudget() {
		add(resources.ReplicasBudget(s.Cluster, s.Engine.Spec.Roles))
	} else {
		add(resources.PodDisruptionBudget(s.Cluster))
	}
	if s.Cluster.Spec.NetworkPolicy.Mode != dbv1.NetworkPolicyNone {
		add(network.Render(s.Cluster))
	}
	if s.Cluster.Spec.Config != nil {
		add(resources.ConfigMap(s.Cluster))
	}
	if !s.TemplateBlocked() {
		add(fresh(s))
	}
	return all
}

// fresh is the StatefulSet as a new one.
func fresh(s *situation.Situation) objects.Child {
	bare := s.Observed
	bare.StatefulSet, bare.PreviousStatefulSet = nil, nil
	start, _ := s.Extent()
	return resources.StatefulSetFrom(start, s.Cluster, s.Wanted, bare)
}

// clean leaves out the records of the operator: hashes, which differ with the fields that they cover.
func clean(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetAnnotations(without(object.GetAnnotations(), dbv1.AnnotationApplied, dbv1.AnnotationRenderedFrom, dbv1.AnnotationStoredSpec))
	path := []string{"spec", "template", "metadata", "annotations"}
	if template, found, _ := unstructured.NestedStringMap(object.Object, path...); found {
		left := without(template, dbv1.AnnotationTemplate, dbv1.AnnotationResources)
		if len(left) == 0 {
			unstructured.RemoveNestedField(object.Object, path...)
		} else {
			_ = unstructured.SetNestedStringMap(object.Object, left, path...) // the path exists
		}
	}
	return object
}

func without(annotations map[string]string, keys ...string) map[string]string {
	left := map[string]string{}
	for key, value := range annotations {
		if !slices.Contains(keys, key) {
			left[key] = value
		}
	}
	return left
}

// compare pairs the objects by kind and name, and returns those that differ, in the order of the second list.
func compare(before, after []*unstructured.Unstructured) []Difference {
	var all []Difference
	for _, object := range after {
		d := Difference{Kind: object.GetKind(), Name: object.GetName(), After: textOf(object)}
		if i := slices.IndexFunc(before, func(b *unstructured.Unstructured) bool { return same(b, object) }); i >= 0 {
			d.Before = textOf(before[i])
		}
		all = append(all, d)
	}
	for _, object := range before {
		if !slices.ContainsFunc(after, func(a *unstructured.Unstructured) bool { return same(a, object) }) {
			all = append(all, Difference{Kind: object.GetKind(), Name: object.GetName(), Before: textOf(object)})
		}
	}
	return slices.DeleteFunc(all, func(d Difference) bool { return d.Before == d.After })
}

// same reports whether one object takes the place of another one. The name of the ConfigMap with the files has their hash.
func same(a, b *unstructured.Unstructured) bool {
	return a.GetKind() == b.GetKind() && (a.GetName() == b.GetName() || a.GetKind() == "ConfigMap")
}

func textOf(object *unstructured.Unstructured) string {
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// live is the object of the API server with which an object of the operator is compared; nil if there is none.
func live(s *situation.Situation, kind, name string) *unstructured.Unstructured {
	for _, one := range slices.Concat(lives(s), configs(s)) {
		if one.GetKind() == kind && one.GetName() == name {
			return one
		}
	}
	return nil
}

func lives(s *situation.Situation) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for kind, object := range map[string][]metav1.Object{
		"Service":             {known(s.HeadlessService), known(s.Service), known(s.ReplicasService)},
		"PodDisruptionBudget": {known(s.PodDisruptionBudget)},
		"NetworkPolicy":       {known(s.NetworkPolicy)},
		"StatefulSet":         {known(s.StatefulSet)},
		"ServiceAccount":      {known(s.ServiceAccount)},
		"Role":                {known(s.Role)},
		"RoleBinding":         {known(s.RoleBinding)},
	} {
		for _, one := range object {
			if one != nil {
				all = append(all, fieldsOf(kind, one))
			}
		}
	}
	return all
}

func configs(s *situation.Situation) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, config := range s.Configs {
		all = append(all, fieldsOf("ConfigMap", config))
	}
	return all
}

// known is a nil interface for a nil pointer.
func known[T any, Object interface {
	*T
	metav1.Object
}](object Object) metav1.Object {
	if object == nil {
		return nil
	}
	return object
}

func fieldsOf(kind string, object any) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "error": err.Error()}}
	}
	fields["kind"] = kind
	return &unstructured.Unstructured{Object: fields}
}

// templateOf is the operator's hash of the pod template of a StatefulSet.
func templateOf(set map[string]any) string {
	hash, _, _ := unstructured.NestedString(set, "spec", "template", "metadata", "annotations", dbv1.AnnotationTemplate)
	return hash
}
