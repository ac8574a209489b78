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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The roles of config/rbac for users. The first three add themselves to those of Kubernetes.
var userRoles = []string{"databasecluster-viewer-role", "databasecluster-editor-role", "databasecluster-admin-role", "databaseengine-viewer-role"}

// every verb there is for what is asked about below.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

const (
	sees    = "get list watch"
	changes = "create delete get list patch update watch"
	all     = "create delete deletecollection get list patch update watch"
)

// ofUsers are what users may do, by resource. What is not named they may not.
var ofUsers = map[string]map[string]string{
	"view": {
		"databaseclusters": sees, "databaseclusters/status": "get", "databaseclusters/scale": "get",
		"databasebackups": sees, "databasebackups/status": "get",
	},
	"edit": {
		"databaseclusters": changes, "databaseclusters/status": "get", "databaseclusters/scale": "get patch update",
		"databasebackups": changes, "databasebackups/status": "get",
	},
	"admin": {
		"databaseclusters": all, "databaseclusters/status": "get", "databaseclusters/scale": "get patch update",
		"databasebackups": all, "databasebackups/status": "get",
	},
	"view everywhere": {
		"databaseclusters": sees, "databaseclusters/status": "get", "databaseclusters/scale": "get",
		"databasebackups": sees, "databasebackups/status": "get", "databaseengines": sees,
	},
	"reader of engines": {"databaseengines": sees},
	"anybody":           {},
}

var askedAbout = []string{
	"databaseclusters", "databaseclusters/status", "databaseclusters/scale", "databaseclusters/finalizers",
	"databasebackups", "databasebackups/status", "databasebackups/finalizers", "databaseengines", "databaseengines/status",
}

// users are bound to Kubernetes' own view, edit and admin in a namespace, by the roles that are shipped.
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

// may is what a user may do with a resource in a namespace.
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

func TestUsersMayDoWhatKubernetesOwnRolesSayAndNoMore(t *testing.T) {
	const group = "database.dbcluster.io"
	ns, elsewhere := users(t), namespace(t)
	// Kubernetes adds the rules to its roles a moment later, the more far-reaching role from the one below it.
	eventually(t, "Kubernetes' roles to have the rules", func() error {
		for who, rules := range ofUsers {
			if got := may(t, who, group, "databaseclusters", ns); got != rules["databaseclusters"] {
				return fmt.Errorf("%s may %q", who, got)
			}
		}
		return nil
	})
	for who, rules := range ofUsers {
		for _, resource := range askedAbout {
			in, out := ns, ""
			if who == "view everywhere" {
				out = rules[resource]
			}
			if strings.HasPrefix(resource, "databaseengines") {
				in, out = "", rules[resource] // of no namespace: the question names none
			}
			if got := may(t, who, group, resource, in); got != rules[resource] {
				t.Errorf("%s may %q with %s, and should %q", who, got, resource, rules[resource])
			}
			if got := may(t, who, group, resource, elsewhere); resource != "databaseengines" && got != out {
				t.Errorf("%s may %q with %s in another namespace, and should %q", who, got, resource, out)
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

// By the commands that they type: an editor makes, scales and protects a cluster; a viewer sees it and changes nothing.
func TestAnEditorWorksWithAClusterAndAViewerOnlySeesIt(t *testing.T) {
	ns := users(t)
	file := manifestFile(t, manifest(ns, "orders", nil))
	eventually(t, "an editor to make a cluster", func() error {
		said, err := kubectl(t, "edit", "apply", "--server-side", "-f", file)
		return explainedBy(said, err)
	})
	for _, command := range []string{
		"scale databasecluster orders --replicas=2",
		`patch dbc orders --type=merge -p {"spec":{"deletion":{"protection":true}}}`,
		`patch dbc orders --type=merge -p {"spec":{"deletion":{"protection":false}}}`,
		"annotate dbc orders database.dbcluster.io/restart=now",
		"get dbc,dbb",
		"delete dbc orders --dry-run=server",
	} {
		if said, err := kubectl(t, "edit", "-n", ns, command); err != nil {
			t.Errorf("an editor: %s: %v: %s", command, err, said)
		}
		said, err := kubectl(t, "view", "-n", ns, command)
		if reads := strings.HasPrefix(command, "get"); reads != (err == nil) || !reads && !strings.Contains(said, "Forbidden") && !strings.Contains(said, "forbidden") {
			t.Errorf("a viewer: %s: %v: %s", command, err, said)
		}
	}
	for who, command := range map[string]string{
		"edit":  "patch dbc orders --subresource=status --type=merge -p {\"status\":{\"replicas\":9}}",
		"admin": "patch dbe postgresql-single-v1 --type=merge -p {\"spec\":{\"description\":\"x\"}}",
	} {
		if said, err := kubectl(t, who, "-n", ns, command); err == nil || !strings.Contains(said, "orbidden") {
			t.Errorf("%s: %s: %v: %s", who, command, err, said)
		}
	}
	// Only the engines are kept from who has a role in a namespace alone.
	if said, err := kubectl(t, "edit", "-n", ns, "get databases"); err == nil || !strings.Contains(said, "orders") || !strings.Contains(said, "databaseengines.database.dbcluster.io is forbidden") {
		t.Errorf("an editor: get databases: %v: %s", err, said)
	}
	if said, err := kubectl(t, "view everywhere", "-n", ns, "get databases"); err != nil || !strings.Contains(said, "databaseengine.database.dbcluster.io/postgresql-single-v1") {
		t.Errorf("view everywhere: get databases: %v: %s", err, said)
	}
}
