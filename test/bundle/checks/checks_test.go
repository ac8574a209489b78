/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/rbac"
)

var whole = sync.OnceValues(func() (*manifests.Bundle, error) {
	return manifests.GetBundleFromDir("../../../bundle/manifests")
})

// load returns the bundle, as a copy for the caller.
func load(t *testing.T) *manifests.Bundle {
	t.Helper()
	bundle, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	copied := &manifests.Bundle{CSV: bundle.CSV.DeepCopy()}
	for _, crd := range bundle.V1CRDs {
		copied.V1CRDs = append(copied.V1CRDs, crd.DeepCopy())
	}
	for _, object := range bundle.Objects {
		copied.Objects = append(copied.Objects, object.DeepCopy())
	}
	return copied
}

func installed(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	objects, err := rbac.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// mutant is a change to a valid bundle, and the expected finding.
type mutant struct {
	name   string
	change func(*manifests.Bundle)
	want   string
}

// kill verifies that a check has a new finding for each mutant, and none for an unchanged bundle.
func kill(t *testing.T, check func(*manifests.Bundle) []string, mutants []mutant) {
	t.Helper()
	before := check(load(t))
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			bundle := load(t)
			m.change(bundle)
			said := slices.DeleteFunc(check(bundle), func(problem string) bool { return slices.Contains(before, problem) })
			if !slices.ContainsFunc(said, func(problem string) bool { return strings.Contains(problem, m.want) }) {
				t.Errorf("the problems are %q, want one with %q", said, m.want)
			}
		})
	}
}

func cluster(bundle *manifests.Bundle) *v1alpha1.CRDDescription {
	owned := bundle.CSV.Spec.CustomResourceDefinitions.Owned
	return &owned[slices.IndexFunc(owned, func(d v1alpha1.CRDDescription) bool { return d.Kind == "DatabaseCluster" })]
}

func TestAFieldWithoutADescriptorAndADescriptorWithoutAFieldAreFound(t *testing.T) {
	kill(t, Descriptors, []mutant{
		{"a field of the spec without one", func(b *manifests.Bundle) {
			c := cluster(b)
			c.SpecDescriptors = slices.DeleteFunc(c.SpecDescriptors, func(d v1alpha1.SpecDescriptor) bool { return d.Path == "storage" })
		}, "DatabaseCluster spec.storage has no descriptor"},
		{"a field of the status without one", func(b *manifests.Bundle) {
			c := cluster(b)
			c.StatusDescriptors = slices.DeleteFunc(c.StatusDescriptors, func(d v1alpha1.StatusDescriptor) bool { return d.Path == "conditions" })
		}, "DatabaseCluster status.conditions has no descriptor"},
		{"a field below another without one", func(b *manifests.Bundle) {
			c := cluster(b)
			c.SpecDescriptors = slices.DeleteFunc(c.SpecDescriptors, func(d v1alpha1.SpecDescriptor) bool { return d.Path == "backup.schedules[0].schedule" })
		}, "DatabaseCluster spec.backup.schedules[0].schedule has no descriptor"},
		{"one for a field that is not there", func(b *manifests.Bundle) {
			c := cluster(b)
			c.SpecDescriptors = append(c.SpecDescriptors, v1alpha1.SpecDescriptor{Path: "storage.color"})
		}, "DatabaseCluster spec.storage.color has a descriptor"},
		{"one below a list for a field that is not there", func(b *manifests.Bundle) {
			c := cluster(b)
			c.StatusDescriptors = append(c.StatusDescriptors, v1alpha1.StatusDescriptor{Path: "conditions[0].mood"})
		}, "DatabaseCluster status.conditions[0].mood has a descriptor"},
		{"two for one field", func(b *manifests.Bundle) {
			c := cluster(b)
			c.SpecDescriptors = append(c.SpecDescriptors, c.SpecDescriptors[0])
		}, "more than one descriptor"},
		{"a new field", func(b *manifests.Bundle) {
			for _, crd := range b.V1CRDs {
				crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["new"] = apiextensionsv1.JSONSchemaProps{}
			}
		}, "DatabaseEngine spec.new has no descriptor"},
		{"a CRD that the CSV does not own", func(b *manifests.Bundle) {
			b.CSV.Spec.CustomResourceDefinitions.Owned = b.CSV.Spec.CustomResourceDefinitions.Owned[1:]
		}, "and the CSV does not own it"},
		{"a missing owned CRD", func(b *manifests.Bundle) { b.V1CRDs = nil }, "and the bundle has no such CRD"},
		{"a kind that the API does not register", func(b *manifests.Bundle) { cluster(b).Kind = "Other" }, "registers no such type"},
		{"an owned CRD of another version", func(b *manifests.Bundle) { cluster(b).Version = "v1" }, "owns databaseclusters.database.dbcluster.io v1,"},
	})
}

func TestDescriptorsBelowListsAndMapsAreFound(t *testing.T) {
	bundle := load(t)
	c := cluster(bundle)
	before := len(Descriptors(bundle))
	for _, path := range []string{"deletion.hooks[0].command", "parameters.work_mem", "storage.size"} {
		c.SpecDescriptors = slices.DeleteFunc(c.SpecDescriptors, func(d v1alpha1.SpecDescriptor) bool { return d.Path == path })
		c.SpecDescriptors = append(c.SpecDescriptors, v1alpha1.SpecDescriptor{Path: path})
	}
	if problems := Descriptors(bundle); len(problems) != before {
		t.Errorf("the problems are %q", problems)
	}
}

func TestEveryDifferenceBetweenTheCSVAndConfigRBACIsFound(t *testing.T) {
	objects := installed(t)
	check := func(bundle *manifests.Bundle) []string { return Permissions(bundle, objects) }
	strategy := func(b *manifests.Bundle) *v1alpha1.StrategyDetailsDeployment {
		return &b.CSV.Spec.InstallStrategy.StrategySpec
	}
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}
	kill(t, check, []mutant{
		{"a right more in the namespace", func(b *manifests.Bundle) {
			strategy(b).Permissions[0].Rules = append(strategy(b).Permissions[0].Rules, secrets)
		}, "the CSV gives the right to list secrets, namespaced for ServiceAccount controller-manager, and config/rbac does not"},
		{"a right more everywhere", func(b *manifests.Bundle) {
			strategy(b).ClusterPermissions[0].Rules = append(strategy(b).ClusterPermissions[0].Rules, secrets)
		}, "the CSV gives the right to list secrets, cluster-wide"},
		{"rights less", func(b *manifests.Bundle) { strategy(b).Permissions[0].Rules = nil }, "and the CSV does not"},
		{"a name less", func(b *manifests.Bundle) {
			for _, permission := range slices.Concat(strategy(b).Permissions, strategy(b).ClusterPermissions) {
				for i := range permission.Rules {
					permission.Rules[i].ResourceNames = nil
				}
			}
		}, "config/rbac gives the right to get leases.coordination.k8s.io databasecluster-operator, namespaced"},
		{"rights of another ServiceAccount", func(b *manifests.Bundle) { strategy(b).Permissions[0].ServiceAccountName = "default" }, "for ServiceAccount default"},
		{"namespaced rights everywhere", func(b *manifests.Bundle) {
			strategy(b).ClusterPermissions = append(strategy(b).ClusterPermissions, strategy(b).Permissions...)
			strategy(b).Permissions = nil
		}, "cluster-wide for ServiceAccount controller-manager, and config/rbac does not"},
		{"no role for users", func(b *manifests.Bundle) {
			b.Objects = slices.DeleteFunc(b.Objects, func(o *unstructured.Unstructured) bool {
				return o.GetName() == prefix+"databasecluster-viewer-role"
			})
		}, "in ClusterRole databasecluster-viewer-role, and the bundle does not"},
		{"a role that config/rbac does not know", func(b *manifests.Bundle) {
			b.Objects = append(b.Objects, &unstructured.Unstructured{Object: map[string]any{
				"kind": "ClusterRole", "metadata": map[string]any{"name": "root"},
				"rules": []any{map[string]any{"nonResourceURLs": []any{"*"}, "verbs": []any{"*"}}},
			}})
		}, "the bundle gives the right to * *, in ClusterRole root, and config/rbac does not"},
	})
}

func TestABindingOfNothingIsAProblem(t *testing.T) {
	objects := slices.DeleteFunc(installed(t), func(o *unstructured.Unstructured) bool { return o.GetName() == managerRole })
	problems := Permissions(load(t), objects)
	if len(problems) != 1 || !strings.Contains(problems[0], "ClusterRole manager-role, which does not exist") {
		t.Errorf("the problems are %q", problems)
	}
}

func TestAnImageThatIsNotRelatedIsFound(t *testing.T) {
	container := func(b *manifests.Bundle) *corev1.Container {
		return &b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0]
	}
	kill(t, RelatedImages, []mutant{
		{"none is", func(b *manifests.Bundle) { b.CSV.Spec.RelatedImages = nil; container(b).Image = "example.org/other:1" }, `lacks "example.org/other:1"`},
		{"of a variable", func(b *manifests.Bundle) {
			container(b).Env = append(container(b).Env, corev1.EnvVar{Name: "RELATED_IMAGE_X", Value: "example.org/x:1"})
		}, `lacks "example.org/x:1"`},
		{"of the annotation", func(b *manifests.Bundle) { b.CSV.Annotations["containerImage"] = "example.org/y:1" }, `lacks "example.org/y:1"`},
		{"without a purpose", func(b *manifests.Bundle) {
			b.CSV.Spec.RelatedImages = append(b.CSV.Spec.RelatedImages, v1alpha1.RelatedImage{Image: "example.org/z:1"})
		}, "names no purpose for example.org/z:1"},
	})
}

func TestConditionsAreComplete(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	good := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: "1 of 1 members is ready",
		ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(now),
	}
	for want, change := range map[string]func(*metav1.Condition){
		"":                                     func(*metav1.Condition) {},
		"there are 0 conditions of type Ready": func(c *metav1.Condition) { c.Type = "Other" },
		`Ready has the status "Yes"`:           func(c *metav1.Condition) { c.Status = "Yes" },
		`Ready has the reason ""`:              func(c *metav1.Condition) { c.Reason = "" },
		`Ready has the reason "all is well"`:   func(c *metav1.Condition) { c.Reason = "all is well" },
		"Ready has no message":                 func(c *metav1.Condition) { c.Message = "" },
		"Ready is about generation 2 of the spec, want 3": func(c *metav1.Condition) { c.ObservedGeneration = 2 },
		"Ready is about generation 4 of the spec, want 3": func(c *metav1.Condition) { c.ObservedGeneration = 4 },
		"Ready began at 0001-01-01T00:00:00Z":             func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} },
		"Ready began at 2026-01-01T12:00:01Z":             func(c *metav1.Condition) { c.LastTransitionTime = metav1.NewTime(now.Add(time.Second)) },
	} {
		condition := good
		change(&condition)
		problems := strings.Join(Conditions([]metav1.Condition{condition}, []string{"Ready"}, 3, now), "\n")
		if !strings.Contains(problems, want) || (want == "") != (problems == "") {
			t.Errorf("the problems are %q, want %q", problems, want)
		}
	}
	if problems := Conditions([]metav1.Condition{good, good}, []string{"Ready"}, 3, now); len(problems) != 1 || !strings.Contains(problems[0], "there are 2") {
		t.Errorf("of a condition that is there twice the problems are %q", problems)
	}
}
