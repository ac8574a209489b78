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
	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

func TestEveryPolicyFailsClosedAndIsInForceByABindingOfItsName(t *testing.T) {
	if names, err := Protection(); err != nil || len(names) != 3 {
		t.Errorf("the policies that deny deletions are %v: %v", names, err)
	}
	if policies, _ := inForce(t, objects(t)); len(policies) != 5 {
		t.Errorf("the operator creates %v", policies)
	}
	for file, all := range map[string][]*unstructured.Unstructured{
		"the operator": objects(t), "secret-writes.yaml": decoded(t, "secret-writes.yaml"), "../secret-access/policy.yaml": decoded(t, "../secret-access/policy.yaml"),
	} {
		policies, bindings := inForce(t, all)
		if len(policies) == 0 || !slices.Equal(policies, bindings) {
			t.Errorf("%s has the policies %v and bindings of %v", file, policies, bindings)
		}
	}
}

// inForce returns the names of the policies, and of those that the bindings put in force.
func inForce(t *testing.T, all []*unstructured.Unstructured) (policies, bindings []string) {
	t.Helper()
	for _, object := range all {
		switch object.GetKind() {
		case "ValidatingAdmissionPolicy":
			policy := typed[admissionregistrationv1.ValidatingAdmissionPolicy](t, object)
			policies = append(policies, policy.Name)
			if fails := policy.Spec.FailurePolicy; fails == nil || *fails != admissionregistrationv1.Fail {
				t.Errorf("%s does not have failurePolicy Fail", policy.Name)
			}
		case "ValidatingAdmissionPolicyBinding":
			binding := typed[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, object)
			bindings = append(bindings, binding.Spec.PolicyName)
			if binding.Spec.PolicyName != binding.Name || !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny) {
				t.Errorf("%s does not put the policy of its name in force: %+v", binding.Name, binding.Spec)
			}
		default:
			t.Errorf("unexpected kind %s", object.GetKind())
		}
	}
	return policies, bindings
}

// The operator could change a policy that it creates.
func TestTheOperatorDoesNotCreateThePoliciesOnSecrets(t *testing.T) {
	for _, object := range slices.Concat(decoded(t, "secret-writes.yaml"), decoded(t, "../secret-access/policy.yaml")) {
		if slices.ContainsFunc(objects(t), func(o *unstructured.Unstructured) bool { return o.GetName() == prefix+object.GetName() }) {
			t.Errorf("the operator creates %s", object.GetName())
		}
	}
}

func decoded(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := embedded.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
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
	all := slices.Concat(objects(t), decoded(t, "secret-writes.yaml"), decoded(t, "../secret-access/policy.yaml"))
	for _, key := range []string{
		dbv1.LabelProtected, dbv1.AnnotationAllowDeletion, dbv1.LabelInstance, dbv1.GroupVersion.Group, dbv1.AnnotationVerify, dbv1.LabelManagedBy, dbv1.LabelManagedByValue,
		dbv1.AnnotationRoleLabel, dbv1.LabelName, dbv1.LabelNameValue,
	} {
		if !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
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
