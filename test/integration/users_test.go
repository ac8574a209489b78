//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The roles of config/rbac for users. Kubernetes aggregates the first three into its own roles.
var userRoles = []string{"databasecluster-viewer-role", "databasecluster-editor-role", "databasecluster-admin-role", "databaseengine-viewer-role"}

// verbs are all verbs of the resources below.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

const (
	sees    = "get list watch"
	changes = "create delete get list patch update watch"
	all     = "create delete deletecollection get list patch update watch"
)

// ofUsers has the verbs that users may use with namespaced kinds. Those who read everywhere also read the kinds without a namespace.
var ofUsers = map[string]string{"view": sees, "edit": changes, "admin": all, "view everywhere": sees, "reader of engines": "", "anybody": ""}

// rules returns the verbs that a user may use with a kind and its subresources. Users have no other rights.
func rules(who string, kind apiextensionsv1.CustomResourceDefinition) map[string]string {
	may := map[string]string{"": "", "/status": "", "/scale": "", "/finalizers": ""}
	switch verbs := ofUsers[who]; {
	case kind.Spec.Scope == apiextensionsv1.ClusterScoped:
		if who == "view everywhere" || who == "reader of engines" {
			may[""] = sees
		}
	case verbs != "":
		may[""], may["/status"] = verbs, "get"
		if scales := kind.Spec.Versions[0].Subresources.Scale != nil; scales && verbs == sees {
			may["/scale"] = "get"
		} else if scales {
			may["/scale"] = "get patch update"
		}
	}
	return may
}

// users binds users to Kubernetes' own view, edit and admin in a namespace, and to the shipped roles.
func users(t *testing.T) (ns string) {
	t.Helper()
	ns = namespace(t)
	for _, name := range userRoles {
		role, err := shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		createFor(t, role)
	}
	for _, name := range []string{"view", "edit", "admin"} {
		create(t, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, RoleRef: clusterRole(name), Subjects: user(name)})
	}
	for name, role := range map[string]string{"view everywhere": "view", "reader of engines": "databaseengine-viewer-role"} {
		createFor(t, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "users-"}, RoleRef: clusterRole(role), Subjects: user(name)})
	}
	return ns
}

// may returns the verbs that a user may use with a resource in a namespace.
func may(t *testing.T, who, group, resource, ns string) string {
	t.Helper()
	resource, sub, _ := strings.Cut(resource, "/")
	var allowed []string
	for _, verb := range verbs {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               who,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: verb, Group: group, Resource: resource, Subresource: sub},
		}}
		create(t, review)
		if review.Status.Allowed {
			allowed = append(allowed, verb)
		}
	}
	return strings.Join(allowed, " ")
}

func TestUsersHaveExactlyTheRightsOfKubernetesRoles(t *testing.T) {
	const group = "database.dbcluster.io"
	ns, elsewhere := users(t), namespace(t)
	// Kubernetes aggregates the rules a moment later, first into view, then into edit and admin.
	eventually(t, "Kubernetes' roles to have the rules", func() error {
		for who, want := range ofUsers {
			if got := may(t, who, group, "databaseclusters", ns); got != want {
				return fmt.Errorf("%s may %q", who, got)
			}
		}
		return nil
	})
	for who := range ofUsers {
		for _, kind := range definitions(t) {
			in, everywhere := ns, kind.Spec.Scope == apiextensionsv1.ClusterScoped
			if everywhere {
				in = "" // a question without a namespace
			}
			for part, want := range rules(who, kind) {
				resource := kind.Spec.Names.Plural + part
				if got := may(t, who, group, resource, in); got != want {
					t.Errorf("%s may %q with %s, want %q", who, got, resource, want)
				}
				out := ""
				if who == "view everywhere" {
					out = want
				}
				if got := may(t, who, group, resource, elsewhere); got != out && !(everywhere && part == "") {
					t.Errorf("%s may %q with %s in another namespace, want %q", who, got, resource, out)
				}
			}
		}
	}
	for _, who := range []string{"view", "view everywhere", "reader of engines", "anybody"} {
		if got := may(t, who, "", "secrets", ns); got != "" {
			t.Errorf("%s may %q with Secrets", who, got)
		}
	}
	for who := range ofUsers {
		for _, definition := range []string{"customresourcedefinitions.apiextensions.k8s.io", "validatingadmissionpolicies.admissionregistration.k8s.io"} {
			resource, group, _ := strings.Cut(definition, ".")
			if got := may(t, who, group, resource, ""); got != "" && got != sees {
				t.Errorf("%s may %q with %s", who, got, definition)
			}
		}
	}
}

// With kubectl commands, an editor creates, scales and protects a cluster. A viewer can only read it.
func TestAnEditorManagesAClusterAndAViewerOnlyReadsIt(t *testing.T) {
	ns := users(t)
	file := manifestFile(t, manifest(ns, "orders", nil))
	eventually(t, "an editor to create a cluster", func() error {
		output, err := kubectl(t, "edit", "apply", "--server-side", "-f", file)
		return explainedBy(output, err)
	})
	for _, command := range []string{
		"scale databasecluster orders --replicas=2",
		`patch dbc orders --type=merge -p {"spec":{"deletion":{"protection":true}}}`,
		`patch dbc orders --type=merge -p {"spec":{"deletion":{"protection":false}}}`,
		"annotate dbc orders database.dbcluster.io/restart=now",
		"get dbc,dbb",
		"delete dbc orders --dry-run=server",
	} {
		if output, err := kubectl(t, "edit", "-n", ns, command); err != nil {
			t.Errorf("an editor: %s: %v: %s", command, err, output)
		}
		output, err := kubectl(t, "view", "-n", ns, command)
		if reads := strings.HasPrefix(command, "get"); reads != (err == nil) || !reads && !strings.Contains(output, "Forbidden") && !strings.Contains(output, "forbidden") {
			t.Errorf("a viewer: %s: %v: %s", command, err, output)
		}
	}
	for who, command := range map[string]string{
		"edit":  "patch dbc orders --subresource=status --type=merge -p {\"status\":{\"replicas\":9}}",
		"admin": "patch dbe postgresql-single-v1 --type=merge -p {\"spec\":{\"description\":\"x\"}}",
	} {
		if output, err := kubectl(t, who, "-n", ns, command); err == nil || !strings.Contains(output, "orbidden") {
			t.Errorf("%s: %s: %v: %s", who, command, err, output)
		}
	}
	// Users with a role in a single namespace cannot read engines.
	if output, err := kubectl(t, "edit", "-n", ns, "get dbcluster"); err == nil || !strings.Contains(output, "orders") || !strings.Contains(output, "databaseengines.database.dbcluster.io is forbidden") {
		t.Errorf("an editor: get dbcluster: %v: %s", err, output)
	}
	if output, err := kubectl(t, "view everywhere", "-n", ns, "get dbcluster"); err != nil || !strings.Contains(output, "databaseengine.database.dbcluster.io/postgresql-single-v1") {
		t.Errorf("view everywhere: get dbcluster: %v: %s", err, output)
	}
}
