/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dbcluster/databasecluster-operator/test/rights"
)

const (
	// prefix is the name prefix that config/default adds to config/rbac.
	prefix = "databasecluster-operator-"
	// config/rbac grants managerRole in all namespaces, OLM in the watched namespaces.
	managerRole = "manager-role"
)

// permissions are flattened rules: each has a scope, a subject and one verb of one resource.
type permissions = sets.Set[string]

// Scopes of permissions.
const (
	inNamespace = "namespaced"
	everywhere  = "cluster-wide"
)

// Permissions returns the differences between the permissions of the CSV and of config/rbac, and between the roles for
// users.
func Permissions(bundle *manifests.Bundle, rbac []*unstructured.Unstructured) []string {
	configured, err := rights.Read(rbac)
	if err != nil {
		return []string{err.Error()}
	}
	want, err := granted(configured)
	if err != nil {
		return []string{err.Error()}
	}
	shipped, err := rights.Read(bundle.Objects)
	if err != nil {
		return []string{err.Error()}
	}
	problems := differences(want, ofCSV(bundle.CSV), "config/rbac", "the CSV")
	return append(problems, differences(unbound(configured, configured), unbound(shipped, nil), "config/rbac", "the bundle")...)
}

// granted returns the permissions that bindings grant, by subject and scope.
func granted(all []rights.Manifest) (permissions, error) {
	given := permissions{}
	for _, binding := range all {
		if binding.RoleRef.Name == "" {
			continue
		}
		scope := everywhere
		if binding.Kind == "RoleBinding" || binding.RoleRef.Name == managerRole {
			scope = inNamespace
		}
		role, err := rights.BoundBy(binding, all)
		if err != nil {
			return nil, err
		}
		for _, subject := range binding.Subjects {
			add(given, scope+" for ServiceAccount "+subject.Name, role.Rules)
		}
	}
	return given, nil
}

func ofCSV(csv *v1alpha1.ClusterServiceVersion) permissions {
	given := permissions{}
	strategy := csv.Spec.InstallStrategy.StrategySpec
	for _, permission := range strategy.Permissions {
		add(given, inNamespace+" for ServiceAccount "+strings.TrimPrefix(permission.ServiceAccountName, prefix), permission.Rules)
	}
	for _, permission := range strategy.ClusterPermissions {
		add(given, everywhere+" for ServiceAccount "+strings.TrimPrefix(permission.ServiceAccountName, prefix), permission.Rules)
	}
	return given
}

// unbound returns the permissions of roles without a binding: roles for users.
func unbound(roles, bindings []rights.Manifest) permissions {
	given := permissions{}
	for _, role := range roles {
		if !slices.ContainsFunc(bindings, func(m rights.Manifest) bool { return m.Binds(role) }) {
			add(given, "in "+role.Kind+" "+strings.TrimPrefix(role.Name, prefix), role.Rules)
		}
	}
	return given
}

func add(given permissions, where string, rules []rbacv1.PolicyRule) {
	for _, right := range rights.Flatten(where, rules) {
		given.Insert(right.What() + ", " + where)
	}
}

func differences(want, got permissions, wanted, found string) []string {
	var problems []string
	for _, right := range sets.List(want.Difference(got)) {
		problems = append(problems, fmt.Sprintf("%s gives the right to %s, and %s does not", wanted, right, found))
	}
	for _, right := range sets.List(got.Difference(want)) {
		problems = append(problems, fmt.Sprintf("%s gives the right to %s, and %s does not", found, right, wanted))
	}
	return problems
}
