/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"slices"
	"testing"
)

func shipped(t *testing.T) []Right {
	t.Helper()
	all, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNoRightOfTheOperatorIsObjectedTo(t *testing.T) {
	for _, right := range shipped(t) {
		if why := Objection(right); why != "" {
			t.Errorf("%s: %s", right, why)
		}
	}
}

func TestEveryBindingOfTheOperatorIsRead(t *testing.T) {
	var roles []string
	for _, right := range shipped(t) {
		if !slices.Contains(roles, right.Role) {
			roles = append(roles, right.Role)
		}
	}
	for _, want := range []string{"manager-role", "leader-election-role", "metrics-auth-role"} {
		if !slices.Contains(roles, want) {
			t.Errorf("the operator's roles are %v, without %s", roles, want)
		}
	}
}

func TestARightThatWouldBeTooMuchIsObjectedTo(t *testing.T) {
	for _, right := range []Right{
		{Verb: "list", Resource: "secrets"}, {Verb: "watch", Resource: "secrets"}, {Verb: "update", Resource: "secrets"},
		{Verb: "deletecollection", Resource: "secrets"},
		{Verb: "create", Resource: "pods/exec"}, {Verb: "get", Resource: "pods/exec"}, {Verb: "create", Resource: "pods"},
		{Verb: "create", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		{Verb: "patch", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		{Verb: "escalate", Group: "rbac.authorization.k8s.io", Resource: "roles"},
		{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}, {Verb: "list", Group: "rbac.authorization.k8s.io", Resource: "rolebindings"},
		{Verb: "bind", Group: "example.test", Resource: "roles"}, {Verb: "impersonate", Resource: "users"},
		{Verb: "*", Resource: "services"}, {Verb: "get", Resource: "*"}, {Verb: "get", Group: "*", Resource: "services"},
		{Verb: "delete", Group: "database.dbcluster.io", Resource: "databaseclusters"}, {Verb: "get", Resource: "/metrics"},
	} {
		if Objection(right) == "" {
			t.Errorf("there is no objection to %s", right)
		}
	}
	if why := Objection(Right{Verb: "get", Resource: "secrets"}); why != "" {
		t.Errorf("to read a Secret that is named: %s", why)
	}
}
