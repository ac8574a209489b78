//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// The roles of config/rbac for an operator: in each namespace that it manages, for cluster-scoped objects, and in its
// own namespace.
const (
	managerRole        = "manager-role"
	managerClusterRole = "manager-cluster-role"
	leaderElectionRole = "leader-election-role"
)

// shipped returns a role of config/rbac. It returns a Role as a ClusterRole with the same rules.
func shipped(name string) (*rbacv1.ClusterRole, error) {
	files, err := filepath.Glob("../../config/rbac/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
			role := &rbacv1.ClusterRole{}
			if err := documents.Decode(role); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			if role.Name == name && len(role.Rules) > 0 {
				return role, nil
			}
		}
	}
	return nil, fmt.Errorf("config/rbac has no role %s", name)
}

// allow binds a user to roles in all namespaces.
func allow(who string, roles ...string) error {
	for _, name := range roles {
		role, err := shipped(name)
		if err != nil {
			return err
		}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: clusterRole(name), Subjects: user(who)}
		if err := errors.Join(admin.Create(context.Background(), role), admin.Create(context.Background(), binding)); err != nil {
			return err
		}
	}
	return nil
}

// allowIn binds a user to a role in one namespace only.
func allowIn(t *testing.T, ns, who, name string) {
	t.Helper()
	role, err := shipped(name)
	if err != nil {
		t.Fatal(err)
	}
	grantIn(t, ns, name, who, role.Rules)
}

// grantIn creates a role in one namespace and binds a user to it.
func grantIn(t *testing.T, ns, name, to string, rules []rbacv1.PolicyRule) {
	t.Helper()
	at := metav1.ObjectMeta{Namespace: ns, Name: name}
	create(t, &rbacv1.Role{ObjectMeta: at, Rules: rules})
	create(t, &rbacv1.RoleBinding{ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}, Subjects: user(to)})
}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func user(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}}
}
