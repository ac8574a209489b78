/*
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"os"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestEveryPolicyFailsClosedAndIsInForceByABindingOfItsName(t *testing.T) {
	policies, bindings := map[string]bool{}, map[string]bool{}
	for _, object := range objects(t) {
		switch object.GetKind() {
		case "ValidatingAdmissionPolicy":
			policy := typed[admissionregistrationv1.ValidatingAdmissionPolicy](t, object)
			policies[policy.Name] = true
			if fails := policy.Spec.FailurePolicy; fails == nil || *fails != admissionregistrationv1.Fail {
				t.Errorf("%s does not have failurePolicy Fail", policy.Name)
			}
		case "ValidatingAdmissionPolicyBinding":
			binding := typed[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, object)
			bindings[binding.Name] = true
			if binding.Spec.PolicyName != binding.Name || !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny) {
				t.Errorf("%s does not put the policy of its name in force: %+v", binding.Name, binding.Spec)
			}
		default:
			t.Errorf("unexpected kind %s", object.GetKind())
		}
	}
	names, err := Names()
	if err != nil || len(names) != 3 || len(policies) != 3 || len(bindings) != 3 {
		t.Errorf("%v %v %v %v", names, policies, bindings, err)
	}
	for _, name := range names {
		if !policies[name] || !bindings[name] {
			t.Errorf("%s must exist twice", name)
		}
	}
}

func TestTheNamesAreThoseOfAnInstallByManifests(t *testing.T) {
	text, err := os.ReadFile("../default/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ NamePrefix string }
	if err := yaml.Unmarshal(text, &kustomization); err != nil || kustomization.NamePrefix != prefix {
		t.Errorf("the name prefix of config/default is %q, of the operator %q: %v", kustomization.NamePrefix, prefix, err)
	}
}

func TestThePoliciesReadTheKeysOfTheAPI(t *testing.T) {
	for _, key := range []string{dbv1.LabelProtected, dbv1.AnnotationAllowDeletion, dbv1.LabelInstance, dbv1.GroupVersion.Group} {
		if !slices.ContainsFunc(objects(t), func(o *unstructured.Unstructured) bool {
			text, err := yaml.Marshal(o.Object)
			return err == nil && slices.Contains(words(string(text)), key)
		}) {
			t.Errorf("no policy reads %s", key)
		}
	}
}

// words splits a text at quotes and white space.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t'\":", r) })
}

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func typed[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	into := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true); err != nil {
		t.Fatal(err)
	}
	return into
}
