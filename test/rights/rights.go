/*
SPDX-License-Identifier: Apache-2.0
*/

// Package rights compares the permissions of the operator in config/rbac with docs/security.md and with the requests in
// the audit log of the API server.
package rights

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/config/rbac"
)

// serviceAccount is the name of the operator's ServiceAccount in config/rbac, before kustomize adds its prefix.
const serviceAccount = "controller-manager"

// Right is one permission in a role of the operator.
type Right struct {
	Role, Verb, Group string
	// Resource includes the subresource: pods/log.
	Resource string
	// Name is the only object of the permission, or "" for every object.
	Name string
}

func (r Right) String() string { return r.What() + " (" + r.Role + ")" }

// What returns the permission without the role: get pods/log, update leases.coordination.k8s.io ours.
func (r Right) What() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	return text
}

// Manifest has the relevant fields of a Role, a ClusterRole or a binding.
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule `json:"rules"`
	RoleRef           rbacv1.RoleRef      `json:"roleRef"`
	Subjects          []rbacv1.Subject    `json:"subjects"`
}

// Read returns the manifests in objects of any kind.
func Read(objects []*unstructured.Unstructured) ([]Manifest, error) {
	all := make([]Manifest, len(objects))
	for i, object := range objects {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &all[i]); err != nil {
			return nil, fmt.Errorf("%s %s cannot be read: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return all, nil
}

// Binds reports whether a binding references that role.
func (m Manifest) Binds(role Manifest) bool {
	return m.RoleRef.Kind == role.Kind && m.RoleRef.Name == role.Name
}

// BoundBy returns the role of a binding.
func BoundBy(binding Manifest, all []Manifest) (Manifest, error) {
	at := slices.IndexFunc(all, binding.Binds)
	if at < 0 {
		return Manifest{}, fmt.Errorf("%s %s in config/rbac binds %s %s, which does not exist", binding.Kind, binding.Name, binding.RoleRef.Kind,
			binding.RoleRef.Name)
	}
	return all[at], nil
}

// Shipped returns the permissions that bindings in config/rbac grant to the operator.
func Shipped() ([]Right, error) {
	objects, err := rbac.Objects()
	if err != nil {
		return nil, err
	}
	all, err := Read(objects)
	if err != nil {
		return nil, err
	}
	var rights []Right
	for _, binding := range all {
		if !isOperators(binding) {
			continue
		}
		role, err := BoundBy(binding, all)
		if err != nil {
			return nil, err
		}
		rights = append(rights, Flatten(role.Name, role.Rules)...)
	}
	return rights, nil
}

func isOperators(binding Manifest) bool {
	return slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Name == serviceAccount
	})
}

// Flatten returns a permission for each combination in the rules.
func Flatten(role string, rules []rbacv1.PolicyRule) []Right {
	var all []Right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				all = append(all, Right{Role: role, Verb: verb, Resource: url})
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						all = append(all, Right{Role: role, Verb: verb, Group: group, Resource: resource, Name: name})
					}
				}
			}
		}
	}
	return all
}
