/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// Prefix is what config/default puts before the names of config/rbac.
	Prefix = "databasecluster-operator-"
	// ManagerRole is granted in all namespaces by config/rbac, and by OLM in those that the operator watches.
	ManagerRole = "manager-role"
)

// Rights are rules taken apart: each says where, who, and one verb of one resource.
type Rights map[string]bool

// Where rights hold.
const (
	inNamespace = "namespaced"
	everywhere  = "cluster-wide"
)

// Permissions tells how the rights of the CSV and those of config/rbac differ, and the roles for users in the bundle.
func Permissions(bundle *manifests.Bundle, rbac []*unstructured.Unstructured) []string {
	roles, bindings, err := read(rbac)
	if err != nil {
		return []string{err.Error()}
	}
	want, err := granted(roles, bindings)
	if err != nil {
		return []string{err.Error()}
	}
	shipped, _, err := read(bundle.Objects)
	if err != nil {
		return []string{err.Error()}
	}
	problems := differences(want, ofCSV(bundle.CSV), "config/rbac", "the CSV")
	return append(problems, differences(unbound(roles, bindings), unbound(shipped, nil), "config/rbac", "the bundle")...)
}

// role is a Role or a ClusterRole.
type role struct {
	kind, name string
	rules      []rbacv1.PolicyRule
}

// read takes roles and bindings from objects of any kind.
func read(objects []*unstructured.Unstructured) (roles []role, bindings []rbacv1.ClusterRoleBinding, err error) {
	for _, object := range objects {
		switch object.GetKind() {
		case "Role", "ClusterRole":
			var read rbacv1.ClusterRole
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read)
			roles = append(roles, role{object.GetKind(), strings.TrimPrefix(object.GetName(), Prefix), read.Rules})
		case "RoleBinding", "ClusterRoleBinding":
			var read rbacv1.ClusterRoleBinding
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read)
			bindings = append(bindings, read)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s cannot be read: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return roles, bindings, nil
}

// granted is what the bindings give, to whom, and where.
func granted(roles []role, bindings []rbacv1.ClusterRoleBinding) (Rights, error) {
	all := Rights{}
	for _, binding := range bindings {
		scope := everywhere
		if binding.Kind == "RoleBinding" || binding.RoleRef.Name == ManagerRole {
			scope = inNamespace
		}
		at := slices.IndexFunc(roles, func(r role) bool { return r.kind == binding.RoleRef.Kind && r.name == binding.RoleRef.Name })
		if at < 0 {
			return nil, fmt.Errorf("%s %s in config/rbac binds %s %s, which is not there", binding.Kind, binding.Name, binding.RoleRef.Kind, binding.RoleRef.Name)
		}
		for _, subject := range binding.Subjects {
			all.add(scope+" for ServiceAccount "+subject.Name, roles[at].rules)
		}
	}
	return all, nil
}

func ofCSV(csv *v1alpha1.ClusterServiceVersion) Rights {
	all := Rights{}
	strategy := csv.Spec.InstallStrategy.StrategySpec
	for _, permission := range strategy.Permissions {
		all.add(inNamespace+" for ServiceAccount "+strings.TrimPrefix(permission.ServiceAccountName, Prefix), permission.Rules)
	}
	for _, permission := range strategy.ClusterPermissions {
		all.add(everywhere+" for ServiceAccount "+strings.TrimPrefix(permission.ServiceAccountName, Prefix), permission.Rules)
	}
	return all
}

// unbound is what roles would give that no binding names: those for users, to bind or to aggregate.
func unbound(roles []role, bindings []rbacv1.ClusterRoleBinding) Rights {
	all := Rights{}
	for _, r := range roles {
		bound := func(b rbacv1.ClusterRoleBinding) bool { return b.RoleRef.Kind == r.kind && b.RoleRef.Name == r.name }
		if !slices.ContainsFunc(bindings, bound) {
			all.add("in "+r.kind+" "+r.name, r.rules)
		}
	}
	return all
}

func (r Rights) add(where string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				r[fmt.Sprintf("%s %s, %s", verb, url, where)] = true
			}
			for _, resource := range resources(rule) {
				r[fmt.Sprintf("%s %s, %s", verb, resource, where)] = true
			}
		}
	}
}

// resources are those of a rule, each with its group and, where the rule names them, with one object's name.
func resources(rule rbacv1.PolicyRule) []string {
	var all []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if group != "" {
				resource += "." + group
			}
			if len(rule.ResourceNames) == 0 {
				all = append(all, resource)
			}
			for _, name := range rule.ResourceNames {
				all = append(all, resource+" "+name)
			}
		}
	}
	return all
}

func differences(want, got Rights, wanted, found string) []string {
	var problems []string
	for _, right := range slices.Sorted(maps.Keys(want)) {
		if !got[right] {
			problems = append(problems, fmt.Sprintf("%s gives the right to %s, and %s does not", wanted, right, found))
		}
	}
	for _, right := range slices.Sorted(maps.Keys(got)) {
		if !want[right] {
			problems = append(problems, fmt.Sprintf("%s gives the right to %s, and %s does not", found, right, wanted))
		}
	}
	return problems
}
