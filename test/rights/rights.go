/*
SPDX-License-Identifier: Apache-2.0
*/

// Package rights compares what the operator may do, by config/rbac, with what it is told to do in docs/security.md
// and with what it does: the API server's audit log is the witness.
package rights

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/config/rbac"
)

// serviceAccount is the operator's, as config/rbac calls it before kustomize puts its prefix there.
const serviceAccount = "controller-manager"

// Right is one thing that a role of the operator allows.
type Right struct {
	Role, Verb, Group string
	// Resource holds the subresource, too: pods/log.
	Resource string
	// Name is the only object that the right is for; "" for every one.
	Name string
}

func (r Right) String() string {
	text := fmt.Sprintf("%s %s", r.Verb, r.Resource)
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	return text + " (" + r.Role + ")"
}

// manifest is what matters of a Role, a ClusterRole or a binding.
type manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule `json:"rules"`
	RoleRef           rbacv1.RoleRef      `json:"roleRef"`
	Subjects          []rbacv1.Subject    `json:"subjects"`
}

// Shipped are the rights of the roles in config/rbac that a binding there gives to the operator.
func Shipped() ([]Right, error) {
	objects, err := rbac.Objects()
	if err != nil {
		return nil, err
	}
	all := make([]manifest, len(objects))
	for i, object := range objects {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &all[i]); err != nil {
			return nil, fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return bound(all)
}

func bound(all []manifest) ([]Right, error) {
	var rights []Right
	for _, binding := range all {
		if !isOperators(binding) {
			continue
		}
		at := slices.IndexFunc(all, func(m manifest) bool { return m.Kind == binding.RoleRef.Kind && m.Name == binding.RoleRef.Name })
		if at < 0 {
			return nil, fmt.Errorf("%s %s binds %s %s, which is not in config/rbac", binding.Kind, binding.Name, binding.RoleRef.Kind, binding.RoleRef.Name)
		}
		for _, rule := range all[at].Rules {
			rights = append(rights, flatten(all[at].Name, rule)...)
		}
	}
	return rights, nil
}

func isOperators(binding manifest) bool {
	return slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Name == serviceAccount
	})
}

// flatten makes a right of each combination that a rule stands for.
func flatten(role string, rule rbacv1.PolicyRule) []Right {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []Right
	for _, url := range rule.NonResourceURLs {
		for _, verb := range rule.Verbs {
			all = append(all, Right{Role: role, Verb: verb, Resource: url})
		}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, Right{Role: role, Verb: verb, Group: group, Resource: resource, Name: name})
				}
			}
		}
	}
	return all
}
